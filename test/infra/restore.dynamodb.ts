/** Restoring a table: what is restored, what stays revoked, and that clients notice. */
import { type BatchWriteItemCommandInput, paginateScan } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { restore } from '../../infra/restore.ts'
import type { Companion } from '../../lib/engine/storage/interface.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { gateKeys } from '../../lib/keys/credential/gates.ts'
import { endless } from '../support/deadlines.ts'
import { copyTable } from '../support/dynamodb.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { accessKey, instance, instances as instancesIn, keys, management } from '../support/objects.ts'
import { startServer, type TestServer } from '../support/server.ts'

const instances = instancesIn('p-demo')
const [providers, trusts] = [`${management}/identityproviders`, `${management}/federatedidentitycredentials`]
const merge = { 'content-type': 'application/merge-patch+json' }
const backup = 'backup'

let server: TestServer
const values = new Map<string, string>()
let seen: string
let lost: { name: string; resourceVersion: string }
let result: Awaited<ReturnType<typeof restore>>

async function key(name: string, metadata: object = {}) {
  const made = await server.make(keys, accessKey(name, { user: name }, metadata))
  values.set(name, made.spec.key)
  return made
}

const federation = newFederation()
const record = (id: string): Companion => ({
  op: 'put',
  pk: `exchange#${id}`,
  sk: '#',
  attributes: { key: 'name', expires: 4_000_000_000 },
  ifAbsent: true,
})
const keep = (pk: string, revision = 1) =>
  server.parts.storage.writeCompanion({ pk, sk: '#', attributes: { revision } }, { deadline: endless })
/** Writes the record of an ID token, whose cluster may have failed. */
const give = (id: string, returned: boolean) => {
  const attributes = { key: 'name', expires: 4_000_000_000, ...(returned && { returned }) }
  return server.parts.storage.writeCompanion({ pk: `exchange#${id}`, sk: '#', attributes }, { deadline: endless })
}
/** What keys did, and what happened to them, and what was exchanged, ended and removed: nothing that happened since is undone. */
const records = ['history', 'usage', 'exchange', 'ended', 'bound', 'ending']

beforeAll(async () => {
  // Nothing else writes: the functions on schedules would mark anew that usage is recorded.
  server = await startServer({}, { unscheduled: true })
  const owner = await key('kept')
  await key('deleted-by-mistake')
  await key('revoked')
  const { apiVersion, kind, metadata } = owner
  await key('rotated', { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] })
  await server.make(instances, instance('web'))
  await server.make(providers, {
    kind: 'IdentityProvider',
    metadata: { name: 'issuer' },
    spec: { issuer: 'https://issuer.example.com' },
  })
  for (const trust of ['standing', 'closed']) {
    const spec = { identityProvider: 'issuer', claims: [{ claim: 'sub', values: ['job'] }], scope: {}, user: 'kept' }
    await server.make(trusts, { kind: 'FederatedIdentityCredential', metadata: { name: trust }, spec })
  }
  await openGates(server.parts, federation)
  const { name, token } = await createExchangedKey(server.parts, federation, {
    metadata: { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid }] },
    companions: [record('before')],
  })
  values.set('of an exchange', token)
  values.set('name of an exchange', name)
  await keep('jwks#provider')
  await keep('unused')
  for (const one of records) for (const uid of ['gone', 'both']) await keep(`${one}#${uid}`)
  await give('given back then', true)
  await keep('recording')
  await copyTable(server.store.dynamodb, backup)
  const later = await createExchangedKey(server.parts, federation, { companions: [record('since')] })
  values.set('of a later exchange', later.token)

  for (const name of ['deleted-by-mistake', 'revoked']) await server.call(`${keys}/${name}`, { method: 'DELETE' })
  await server.call(`${trusts}/closed`, { method: 'DELETE' })
  const rotation = { spec: { key: 'r'.repeat(40) } }
  await server.call(`${keys}/rotated`, { method: 'PATCH', body: rotation, headers: merge })
  await server.call(`${instances}/web`, { method: 'PATCH', body: { spec: { displayName: 'changed' } }, headers: merge })
  const { metadata: late } = await key('made-since')
  lost = late
  await give('given back then', false)
  for (const one of records) {
    for (const uid of ['both', 'later']) await keep(`${one}#${uid}`, 2)
    await server.parts.storage.writeCompanion({ pk: `${one}#gone`, sk: '#', attributes: null }, { deadline: endless })
  }
  await server.parts.storage.writeCompanion({ pk: 'recording', sk: '#', attributes: null }, { deadline: endless })
  seen = (await server.call(keys)).json.metadata.resourceVersion

  const { client, table } = server.store.dynamodb
  result = await restore({
    client,
    from: backup,
    to: table,
    without: new Set(['revoked', 'rotated', 'nobody', 'federatedidentitycredentials/closed']),
    now: Date.now(),
    sleep: async () => undefined,
  })
})
afterAll(() => server?.stop())

const statusOf = async (name: string) =>
  (await server.call(`${keys}/${name}`, { token: values.get(name) ?? 'nothing' })).status

test('restores objects and removes those created since', async () => {
  const { json } = await server.call(keys)
  expect(json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
    expect.stringMatching(/^admin-/),
    'deleted-by-mistake',
    'kept',
  ])
  expect((await server.call(`${instances}/web`)).json.spec).toEqual({})
  expect(await statusOf('deleted-by-mistake')).toBe(200)
  expect(await statusOf('kept')).toBe(200)
})

test('finds nothing to repair in a table that is whole', () => expect([result.repairs, result.open]).toEqual([[], []]))

// threat: storage-10
test('keeps revoked keys revoked and revokes keys created since', async () => {
  expect(result.withheld).toEqual(['federatedidentitycredentials/closed', 'revoked', 'rotated'])
  for (const name of ['revoked', 'rotated', 'made-since']) expect([name, await statusOf(name)]).toEqual([name, 401])
  expect((await server.call(`${keys}/rotated`, { token: 'r'.repeat(40) })).status).toBe(401)
})

// threat: storage-10
test('restores no key of an exchange, whose trust may have been closed since, and no mention of it', async () => {
  expect(result.exchanged).toBe(1)
  for (const one of ['of an exchange', 'of a later exchange']) {
    const { status } = await server.call(`${keys}/kept`, { token: values.get(one) ?? '' })
    expect([one, status]).toEqual([one, 401])
  }
  const { client, table } = server.store.dynamodb
  for await (const { Items = [] } of paginateScan({ client }, { TableName: table })) {
    const mentions = Items.filter(({ pk, sk, name }) => {
      const isLog = pk?.S?.startsWith('ownedaccesskeys#log#')
      return !isLog && [sk?.S, name?.S].some((one) => one?.includes(values.get('name of an exchange') ?? ''))
    })
    expect(mentions).toEqual([])
  }
})

// threat: storage-10
test('keeps closed trusts closed and restores the others with their providers', async () => {
  const { json } = await server.call(trusts)
  expect(json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual(['standing'])
  expect((await server.call(`${trusts}/closed`)).status).toBe(404)
  expect((await server.call(`${providers}/issuer`)).status).toBe(200)
})

// threat: storage-10
test('keeps the records of exchanged ID tokens, so that none can be exchanged again', async () => {
  for (const id of ['before', 'since']) {
    expect([id, await getCompanion(server.parts.storage, { pk: `exchange#${id}`, sk: '#' })]).toEqual([
      id,
      expect.anything(),
    ])
    const again = createExchangedKey(server.parts, federation, { companions: [record(id)] })
    await expect(again).rejects.toMatchObject({ code: 'CompanionExists' })
  }
})

test('knows that an ID token was exchanged since it was given back', async () => {
  const item = await getCompanion(server.parts.storage, { pk: 'exchange#given back then', sk: '#' })
  expect(item?.attributes).toEqual({ key: 'name', expires: 4_000_000_000 })
})

test('restores the gates of trusts and no fetched keys of issuers', async () => {
  const [trustKey, providerKey] = gateKeys(federation)
  const [trust, provider, fetched] = await server.parts.storage.getCompanions([
    trustKey,
    providerKey,
    { pk: 'jwks#provider', sk: '#' },
  ])
  expect([trust?.attributes.revision, provider?.attributes.revision, fetched]).toEqual([1, 1, undefined])
})

// Keys that are in use look unused in the table of another day.
// threat: use-20
test('counts anew the time after which keys that nobody uses end', async () =>
  expect(await getCompanion(server.parts.storage, { pk: 'unused', sk: '#' })).toBeUndefined())

test.each(records)('has the items of both tables below %s, and the newer one of each', async (one) => {
  const all = ['gone', 'both', 'later'].map((uid) => ({ pk: `${one}#${uid}`, sk: '#' }))
  const found = await server.parts.storage.getCompanions(all)
  expect(found.map((item) => item?.attributes.revision)).toEqual([1, 2, 2])
})

test('does not claim that usage was recorded when it was not', async () => {
  expect(await getCompanion(server.parts.storage, { pk: 'recording', sk: '#' })).toBeUndefined()
})

test('continues revisions above all that clients have seen', async () => {
  const { json } = await server.call(keys)
  expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(Number(seen))
  const again = await key(lost.name)
  expect(Number(again.metadata.resourceVersion)).toBeGreaterThan(Number(lost.resourceVersion))
  expect(again.metadata.resourceVersion).not.toBe(lost.resourceVersion)
})

test('returns 410 to watches from before the restore', async () => {
  const { text } = await server.call(`${keys}?watch=1&timeoutSeconds=1&resourceVersion=${seen}`)
  expect(text).toContain('"code":410')
})

test('serves writes and deletions afterwards', async () => {
  const patched = await server.call(`${keys}/kept`, {
    method: 'PATCH',
    body: { spec: { description: 'x' } },
    headers: merge,
  })
  expect(patched.status).toBe(200)
  expect((await server.call(`${keys}/deleted-by-mistake`, { method: 'DELETE' })).status).toBe(200)
  expect(await statusOf('deleted-by-mistake')).toBe(401)
})

test('can be repeated', async () => {
  const { client, table } = server.store.dynamodb
  const again = await restore({
    client,
    from: backup,
    to: table,
    without: new Set(['revoked', 'rotated', 'federatedidentitycredentials/closed']),
    now: Date.now(),
    sleep: async () => undefined,
  })
  // Those of deleted keys are there now.
  expect(again.written).toBe(result.written - records.length)
  expect(await statusOf('deleted-by-mistake')).toBe(200)
})

test('repeats unprocessed items after growing pauses', async () => {
  const { table } = server.store.dynamodb
  const client = server.store.dynamodb.connect()
  const pauses: number[] = []
  let refusals = 3
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'BatchWriteItemCommand' || refusals-- <= 0) return next(args)
        const { RequestItems } = args.input as BatchWriteItemCommandInput
        return { response: {}, output: { $metadata: {}, UnprocessedItems: RequestItems } as never }
      },
    { step: 'initialize', name: 'full' },
  )
  await server.call(`${keys}/kept`, { method: 'DELETE' })
  const sleep = async (ms: number) => void pauses.push(ms)
  await restore({ client, from: backup, to: table, without: new Set(), now: Date.now(), sleep })
  expect(pauses).toEqual([50, 100, 200])
  expect(await statusOf('kept')).toBe(200)
})
