/** Tests stream records in the form that AWS documents: numbers as text, bytes as base64. */
import { readFile } from 'node:fs/promises'
import { deflateRawSync } from 'node:zlib'
import type { AttributeValue, StreamRecord } from 'aws-lambda'
import { expect, test } from 'vitest'
import { rowChange, streamedWrites } from '../../../../../lib/engine/storage/dynamodb/stream.ts'

const resources = ['ownedaccesskeys', 'virtualclusterinstances']
const text = (name: string) => JSON.stringify({ apiVersion: 'g/v1', kind: 'K', metadata: { name, uid: `uid-${name}` } })

const row = (rv: number, object: AttributeValue) => ({
  rv: { N: String(rv) },
  object,
  internal: { S: '{}' },
  partitions: { L: [] },
})
const keys = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } })

test('a delete has the previous object', async () => {
  const event = await readFile(new URL('../../../../../events/garbagecollector.json', import.meta.url), 'utf8')
  const [{ dynamodb }] = JSON.parse(event).Records
  expect(rowChange(resources, dynamodb)).toMatchObject({
    resource: 'virtualclusterinstances',
    key: 'p-web/preview',
    rv: 8,
    before: { metadata: { uid: '5a1d1c44-2f0c-4f8e-8f0e-0c6a4a9b7d21', resourceVersion: '7' } },
    after: undefined,
  })
})

test('a create has no previous object, also after a delete', () => {
  const Keys = keys('ownedaccesskeys#o', 'ci')
  const NewImage = { ...Keys, ...row(9, { S: text('ci') }) }
  const tombstone = { ...Keys, rv: { N: '5' }, gone: { BOOL: true }, expires: { N: '1795435200' } }
  for (const OldImage of [undefined, tombstone]) {
    const change = rowChange(resources, { Keys, NewImage, ...(OldImage && { OldImage }) })
    expect(change).toMatchObject({ key: 'ci', rv: 9, before: undefined, after: { metadata: { uid: 'uid-ci' } } })
  }
})

test('large objects are inflated', () => {
  const Keys = keys('ownedaccesskeys#o', 'ci')
  const deflate = (value: string) => ({ B: deflateRawSync(value).toString('base64') })
  const image = (rv: number, name: string) => ({ ...Keys, ...row(rv, deflate(text(name))), internal: deflate('{}') })
  const change = rowChange(resources, { Keys, OldImage: image(1, 'old'), NewImage: image(2, 'new') })
  expect([change?.before?.metadata.name, change?.after?.metadata.name]).toEqual(['old', 'new'])
})

test.each<[string, StreamRecord]>([
  ['another resource', { Keys: keys('others#o', 'x'), NewImage: {} }],
  ['a copy in an index partition', { Keys: keys('ownedaccesskeys#o#user:x#o', 'x'), NewImage: {} }],
  ['a side item', { Keys: keys('owner#ownedaccesskeys#o', 'x'), NewImage: {} }],
  ['a log slot', { Keys: keys('ownedaccesskeys#log#16', 'x'), NewImage: {} }],
  ['a tombstone that expires', { Keys: keys('ownedaccesskeys#o', 'x'), OldImage: { gone: { BOOL: true } } }],
  ['nothing at all', {}],
])('%s is no change', (_, record) => expect(rowChange(resources, record)).toBeUndefined())

test('only an event of the stream has writes', async () => {
  const eventOf = async (name: string) =>
    JSON.parse(await readFile(new URL(`../../../../../events/${name}.json`, import.meta.url), 'utf8'))
  expect(streamedWrites(await eventOf('sweep'))).toBeUndefined()
  const [write] = streamedWrites(await eventOf('garbagecollector')) ?? []
  expect([write?.id, write?.read(resources)?.key]).toEqual([expect.stringMatching(/^\d+$/), 'p-web/preview'])
})

test('an unreadable row is an error, not a change', () => {
  const Keys = keys('ownedaccesskeys#o', 'x')
  expect(() => rowChange(resources, { Keys, NewImage: { ...Keys, rv: { N: '1' } } })).toThrow('no readable state')
})
