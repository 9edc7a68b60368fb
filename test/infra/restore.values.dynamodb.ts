/** Restoring a table with keys whose values have changed since: an ended value never works again. */
import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { restore } from '../../infra/restore.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../../lib/keys/credential/keyinternal.ts'
import { markKey, type SignalKind, signalItem } from '../../lib/keys/credential/signals.ts'
import { kindOf } from '../../lib/keys/events/event.ts'
import { runLifecycle } from '../../lib/keys/events/run.ts'
import { table as keyTable } from '../../lib/keys/ownedaccesskey.table.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import { type EndReason, tombstoneAttributes } from '../../lib/keys/values/tombstone.ts'
import { keysThrough } from '../../lib/server/keysthrough.ts'
import { endless } from '../support/deadlines.ts'
import { copyTable } from '../support/dynamodb.ts'
import { accessKey, keys } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

const backup = 'backup'
/** Unix seconds. */
const NOW = Math.floor(Date.now() / 1000)

let server: TestServer
let result: Awaited<ReturnType<typeof restore>>

interface Item {
  pk: string
  sk: string
  [attribute: string]: unknown
}
/** The credentials of the first values of the keys. */
const items = new Map<string, Item>()
const tokens = new Map<string, string>()

async function make(name: string): Promise<void> {
  tokens.set(name, (await server.make(keys, accessKey(name, { user: 'alice' }))).spec.key)
  const stored = await server.parts.storage.get(keyTable, name)
  if (!stored) throw new Error(`no key ${name}`)
  const { pk, sk } = credentialItemKey(decodeKeyInternal(stored.internal).credential)
  items.set(name, { ...(await getCompanion(server.parts.storage, { pk, sk }))?.attributes, pk, sk })
}

/** Keys whose values end after the moment of the restore by requests, and the values that rotations made. */
const byRequests = ['rotated', 'settled', 'reported']
const newValues = new Map<string, string>()

const itemOf = (name: string): Item => items.get(name) ?? { pk: '', sk: '' }

/** Writes into the table of the deployment. */
const write = async (...written: Item[]): Promise<void> => {
  const { client, table: TableName } = server.store.dynamodb
  for (const one of written) await client.send(new PutItemCommand({ TableName, Item: marshall(one) }))
}

async function read({ pk, sk }: Item): Promise<Record<string, unknown> | undefined> {
  const { client, table: TableName } = server.store.dynamodb
  const { Item } = await client.send(new GetItemCommand({ TableName, Key: marshall({ pk, sk }) }))
  return Item && unmarshall(Item)
}

const tombstone = ({ pk, sk, name, uid, user }: Item, ended: EndReason): Item => ({
  pk,
  sk,
  ...tombstoneAttributes({ ended, name: String(name), uid: String(uid), user: String(user), at: NOW }, 60),
})

/** Returns the credential of the second value of a key, and that of the first one while the rotation is open. */
function rotated(name: string, facts: { pending?: true; firstUsed?: number }): [Item, Item] {
  const hash = `second-of-${name}`
  const first = itemOf(name)
  const successor = { version: '1', hash }
  return [
    { ...first, successor, overlap: 3600 },
    { ...first, ...credentialItemKey(successor), value: 2, made: NOW, ...facts },
  ]
}

/** What happens to a key before the moment of the restore, and after it. */
const histories: Record<string, { before?: (name: string) => Item[]; after?: (name: string) => Item[] }> = {
  untouched: {},
  'rotated and settled': {
    after: (name) => [tombstone(itemOf(name), 'rotated'), rotated(name, { firstUsed: NOW })[1]],
  },
  'rotated and used, but not settled': { after: (name) => rotated(name, { pending: true, firstUsed: NOW }) },
  'replaced by a value that is not told by a tombstone': { after: (name) => [rotated(name, {})[1]] },
  'ended because nobody used it': { after: (name) => [{ ...itemOf(name), endedUnused: NOW }] },
  leaked: { after: (name) => [tombstone(itemOf(name), 'leaked')] },
  'rotated, not used': { after: (name) => rotated(name, { pending: true }) },
  'used first': {
    before: (name) => rotated(name, { pending: true }),
    after: (name) => rotated(name, { pending: true, firstUsed: NOW }),
  },
  'pending then and now': { before: (name) => rotated(name, { pending: true }) },
  'with a tombstone then': {
    before: (name) => [tombstone(rotated(name, {})[1], 'leaked')],
    // As if the tombstone had gone and the value had been supplied again.
    after: (name) => [rotated(name, { pending: true })[1]],
  },
}
const nameOf = (title: string) => title.replaceAll(/[^a-z]+/g, '-')
const ended = [
  'ended because nobody used it',
  'leaked',
  'replaced by a value that is not told by a tombstone',
  'rotated and settled',
  'rotated and used, but not settled',
  'used first',
]

/** A signal about a key that the restore does not touch. */
function signal(kind: SignalKind): Item {
  const { uid } = itemOf('untouched')
  const { attributes, ...key } = signalItem(
    { kind, name: 'untouched', uid: String(uid), at: NOW },
    { version: '1', hash: 'x' },
  )
  return { ...attributes, ...key }
}

/** Publishes events and returns them, besides those of the uses by these tests. */
async function publish(): Promise<string[]> {
  const published: string[] = []
  await runLifecycle({
    store: server.parts.storeOf(OwnedAccessKey),
    keysThrough: keysThrough(server.parts.storage, () => true),
    storage: server.parts.storage,
    limits: {},
    maxIdleSeconds: 0,
    isNew: false,
    recordSources: true,
    now: () => new Date(),
    hasTime: () => true,
    deadline: endless,
    source: 'https://issuer.example.com',
    publish: async (events) => void published.push(...events.map((one) => `${kindOf(one)} ${one.data.name}`)),
    wake: async () => undefined,
    lost: (since, to) => void published.push(`lost ${since} to ${to}`),
  })
  return published.filter((one) => !/^(first-used|reused) /.test(one))
}

const run = (without: ReadonlySet<string> = new Set()) => {
  const { client, table: to } = server.store.dynamodb
  return restore({ client, from: backup, to, without, now: NOW * 1000, sleep: async () => undefined })
}

beforeAll(async () => {
  // No publisher of events runs besides that of the tests.
  server = await startServer({ EVENT_BUS: 'none' }, { unscheduled: true })
  for (const [title, { before }] of Object.entries(histories)) {
    await make(nameOf(title))
    await write(...(before?.(nameOf(title)) ?? []))
  }
  for (const name of ['named', ...byRequests]) await make(name)
  await write(signal('rotated'))
  await write({ pk: 'lifecycle#position', sk: '#', rv: 1, until: 1, swap: 'then' })
  await copyTable(server.store.dynamodb, backup)
  for (const [title, { after }] of Object.entries(histories)) await write(...(after?.(nameOf(title)) ?? []))
  // Its event has been published since.
  await server.parts.storage.writeCompanion({ ...signal('rotated'), attributes: null }, { deadline: endless })
  await write(
    { ...markKey(signal('source-refused')), expires: NOW + 86_400 },
    signal('source-refused'),
    signal('leaked'),
  )
  await write({ pk: 'lifecycle#position', sk: '#', rv: 9, until: NOW, swap: 'now' })
  for (const name of ['rotated', 'settled']) {
    const body = { spec: { overlapSeconds: 0 } }
    const { json } = await server.call(`${keys}/${name}/rotate`, { method: 'POST', body })
    newValues.set(name, json.status.key)
    await server.call(`${keys}/${name}`, { token: json.status.key })
  }
  const merge = { 'content-type': 'application/merge-patch+json' }
  const change = { method: 'PATCH', body: { spec: { description: 'x' } }, headers: merge }
  await server.call(`${keys}/settled`, change)
  const report = { credentials: [tokens.get('reported')] }
  await server.call('/leaks', { method: 'POST', token: '', body: report })
  result = await run(new Set(['named']))
})
afterAll(() => server?.stop())

const statusOf = async (name: string) =>
  (await server.call(`${keys}/${name}`, { token: tokens.get(name) ?? '' })).status

describe('a key that was', () => {
  // threat: storage-10
  test.each(ended)('%s is not restored, and its old value is known to have ended', async (title) => {
    const name = nameOf(title)
    expect(result.ended).toContain(name)
    expect((await server.call(`${keys}/${name}`)).status).toBe(404)
    expect(await statusOf(name)).toBe(401)
    const old = await read(itemOf(name))
    expect(old).toMatchObject({ ended: expect.any(String), name, uid: itemOf(name).uid, user: 'alice' })
    expect(old).not.toHaveProperty('groups')
  })

  test.each(Object.keys(histories).filter((title) => !ended.includes(title)))('%s is restored', async (title) => {
    const name = nameOf(title)
    expect(result.ended).not.toContain(name)
    expect(await statusOf(name)).toBe(200)
  })
})

test.each(byRequests)('a key that was %s by requests is not restored, and none of its values works', async (name) => {
  expect(result.ended).toContain(name)
  for (const token of [tokens.get(name), newValues.get(name)]) {
    if (token) expect((await server.call(`${keys}/${name}`, { token })).status).toBe(401)
  }
  expect(await read(itemOf(name))).toMatchObject({ ended: expect.any(String), name })
})

test('a rotation that was begun since is gone, one that was open then is open', async () => {
  expect(await read(itemOf('rotated-not-used'))).not.toHaveProperty('successor')
  expect(await read(rotated('rotated-not-used', {})[1])).toBeUndefined()
  expect(await read(itemOf('pending-then-and-now'))).toHaveProperty('successor')
  expect(await read(rotated('pending-then-and-now', {})[1])).toMatchObject({ pending: true })
})

test('a tombstone stays or comes back, whoever supplied its value again', async () => {
  expect(await read(rotated('with-a-tombstone-then', {})[1])).toMatchObject({ ended: 'leaked' })
  expect(await read(itemOf('leaked'))).toMatchObject({ ended: 'leaked' })
})

// threat: events-4
test('no signal is published again, none is lost, and their publisher continues after the restore', async () => {
  expect(await read(markKey(signal('source-refused')))).toBeDefined()
  expect(await read(signal('rotated'))).toBeUndefined()
  const position = await read({ pk: 'lifecycle#position', sk: '#' })
  expect(position).toMatchObject({ until: NOW, swap: 'now' })
  const unpublished = ['leaked reported', 'leaked untouched', 'rotated rotated', 'rotated settled']
  expect((await publish()).sort()).toEqual(unpublished)
  await server.make(keys, accessKey('made-afterwards', {}))
  expect(await publish()).toEqual(['created made-afterwards'])
})

// threat: storage-10
test('a repeated restore, which no longer sees the new values, restores no more keys', async () => {
  const again = await run(new Set(['named']))
  expect([again.ended, again.withheld]).toEqual([result.ended, result.withheld])
  for (const title of ended) expect([title, await statusOf(nameOf(title))]).toEqual([title, 401])
})

// threat: events-9
test.each([
  ['begins anew in the table of another deployment, which has not seen what happened', 1, NOW],
  ['goes on in that of the deployment', 1_000_000, 5],
])('history %s, and every key that a key made is known', async (_, rv, since) => {
  const position = { pk: 'lifecycle#position', sk: '#', rv, until: NOW, since: 5 }
  await write(position)
  await run(new Set(['named']))
  expect(await read(position)).toMatchObject({ since })
  const { items } = (await server.call(keys)).json
  const { metadata } = items.find(({ metadata }: Item & { metadata: { name: string } }) =>
    /^admin-/.test(metadata.name),
  )
  const made = await server.call(`${keys}?fieldSelector=status.madeWith.name=${metadata.name}`)
  expect(made.json.items).toHaveLength(items.length - 1)
})
