/** Tests which stream records are delivered again. */
import type { DynamoDBRecord } from 'aws-lambda'
import { expect, test } from 'vitest'
import { collectStream, interceptCalls, newWorld, passesFilter, reference } from './world.ts'

const ghost = { apiVersion: 'management.platform/v1', kind: 'OwnedAccessKey', name: 'x', uid: 'no-such-uid' }
const sequence = ({ dynamodb }: DynamoDBRecord) => dynamodb?.SequenceNumber

test('records whose tasks failed are returned in order; the others are done', async () => {
  const world = await newWorld()
  for (const name of ['a', 'b', 'c']) await world.make(name, { ownerReferences: [ghost] })
  const records = world.records().filter(passesFilter)
  const { storage } = world
  const broken = new Error('broken')
  const failing = {
    ...storage,
    update: ((table, key, ...rest) =>
      key === 'b' ? Promise.reject(broken) : storage.update(table, key, ...rest)) as typeof storage.update,
  }
  expect(records).toHaveLength(3)
  expect(await collectStream(world.collector(failing), records)).toEqual({
    tasks: 3,
    failed: [records.map(sequence)[1]],
    error: broken,
  })
  expect([await world.find('a'), await world.find('c')]).toEqual([undefined, undefined])
  expect(await world.find('b')).toBeDefined()
})

test('unreadable records are returned', async () => {
  const world = await newWorld()
  await world.make('a', { ownerReferences: [ghost] })
  const [record] = world.records().filter(passesFilter)
  const unreadable = structuredClone(record) as DynamoDBRecord
  if (unreadable.dynamodb?.NewImage) unreadable.dynamodb.NewImage.object = { S: '{' }
  if (unreadable.dynamodb) unreadable.dynamodb.SequenceNumber = '7'
  const outcome = await collectStream(world.collector(), [unreadable, record as DynamoDBRecord])
  expect(outcome.failed).toEqual(['7'])
  expect(outcome.error).toBeInstanceOf(Error)
  expect(await world.find('a')).toBeUndefined()
})

test('a task of several records is performed once', async () => {
  const world = await newWorld()
  const o = await world.make('o', { finalizers: ['foregroundDeletion'] })
  for (const name of ['a', 'b', 'c']) {
    await world.make(name, { ownerReferences: [reference(o, { blockOwnerDeletion: true })] })
  }
  await world.delete('o')
  world.records()
  for (const name of ['a', 'b', 'c']) await world.delete(name)
  const records = world.records().filter(passesFilter)
  let reads = 0
  const counted = interceptCalls(world.storage, (name, call) => {
    if (name === 'get') reads++
    return call()
  })
  expect(await collectStream(world.collector(counted), records)).toMatchObject({ tasks: 6, failed: [] })
  expect([reads, await world.find('o')]).toEqual([1, undefined])
})

test('irrelevant changes read nothing from the table', async () => {
  const world = await newWorld()
  await world.make('a', {}, { displayName: 'x' })
  await world.change('a', (object) => ({ ...object, spec: { displayName: 'y' } }))
  const records = world.records().filter(passesFilter)
  const silent = interceptCalls(world.storage, (name) => Promise.reject(new Error(name)))
  expect(await collectStream(world.collector(silent), records)).toEqual({ tasks: 0, failed: [], error: undefined })
})
