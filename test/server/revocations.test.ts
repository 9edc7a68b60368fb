/** Revocations of many access keys and the line of keys, through the whole API. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accessKey, apiVersion, keys, management } from '../support/objects.ts'
import { type Answer, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startServer({ MAX_KEYS_PER_OWNER: '0' }, { unthrottled: true })
}, 120_000)
afterAll(() => server?.stop())

const path = `${management}/accesskeyrevocations`
const merge = { 'content-type': 'application/merge-patch+json' }

interface Asking {
  token?: string
  dryRun?: boolean
}

const send = (body: object, { token, dryRun }: Asking = {}): Promise<Answer> =>
  server.call(`${path}${dryRun ? '?dryRun=All' : ''}`, { method: 'POST', body, ...(token !== undefined && { token }) })
const revoke = (spec: object, asking: Asking = {}): Promise<Answer> =>
  send({ apiVersion, kind: 'AccessKeyRevocation', spec }, asking)
const patch = (name: string, body: object, token?: string): Promise<Answer> =>
  server.call(`${keys}/${name}`, { method: 'PATCH', headers: merge, body, ...(token !== undefined && { token }) })
const self = (token: string) => server.call(`${management}/selves`, { method: 'POST', body: {}, token })

interface Made {
  name: string
  uid: string
  token: string
}

async function make(name: string, spec: object = {}, metadata: object = {}, token?: string): Promise<Made> {
  const { status, json, text } = await server.call(keys, {
    method: 'POST',
    body: accessKey(name, spec, metadata),
    ...(token !== undefined && { token }),
  })
  if (status !== 201) throw new Error(`${status}: ${text}`)
  return { name, uid: json.metadata.uid, token: json.spec.key }
}

const get = async (name: string) => (await server.call(`${keys}/${name}`)).json
const isDisabled = async (name: string): Promise<boolean> => (await get(name)).spec.disabled === true
const namesOf = ({ json }: Answer): string[] => json.status.keys.map(({ name }: { name: string }) => name)
const causesOf = ({ json }: Answer): string[] =>
  (json.details?.causes ?? []).map(({ field, message }: { field: string; message: string }) => `${field}: ${message}`)
const recordOf = ({ headers }: Answer) => {
  const records = server.log
    .map((line) => JSON.parse(line))
    .filter(({ requestId }) => requestId === headers['audit-id'])
  return records.find(({ message }) => message === 'audit')
}

let counted = 0
/** Returns a label that only the keys of one test have. */
const newLabel = (): { run: string } => ({ run: `test-${++counted}` })

describe('a revocation', () => {
  test('disables the selected keys, says why on them, and spares all others', async () => {
    const labels = newLabel()
    const [one, two] = [
      await make('one', { user: 'alice' }, { labels }),
      await make('two', { user: 'bob' }, { labels }),
    ]
    const other = await make('other', { user: 'alice' })
    const answer = await revoke({ selector: { matchLabels: labels }, reason: 'incident 7' })
    expect(answer.status).toBe(201)
    expect(answer.json.status).toEqual({
      matched: 2,
      done: 2,
      failed: 0,
      remaining: false,
      byOwner: { alice: 1, bob: 1 },
      keys: [
        { name: 'one', owner: 'alice', hint: one.token.slice(-6) },
        { name: 'two', owner: 'bob', hint: two.token.slice(-6) },
      ],
    })
    for (const { token } of [one, two]) expect((await self(token)).status).toBe(401)
    expect((await self(other.token)).status).toBe(201)
    const { metadata, spec } = await get('one')
    expect([spec.disabled, metadata.generation]).toEqual([true, 2])
    expect(metadata.annotations).toEqual({ 'management.platform/disabled-reason': 'incident 7' })
    expect((await patch('one', { spec: { disabled: false } })).status).toBe(200)
    expect((await self(one.token)).status).toBe(201)
  })

  test('deletes the selected keys, also disabled ones', async () => {
    const labels = newLabel()
    await make('gone', {}, { labels })
    await make('gone-disabled', { disabled: true }, { labels })
    await make('held', {}, { labels, finalizers: ['example.com/hold'] })
    const spec = { selector: { matchLabels: labels } }
    expect((await revoke(spec, { dryRun: true })).json.status).toMatchObject({ matched: 2, done: 2 })
    const answer = await revoke({ ...spec, action: 'Delete' })
    expect(answer.json.status).toMatchObject({ matched: 3, done: 3, failed: 0, remaining: false })
    expect((await server.call(`${keys}/gone`)).status).toBe(404)
    expect((await get('held')).status.phase).toBe('Terminating')
    expect((await revoke({ ...spec, action: 'Delete' })).json.status).toMatchObject({ matched: 0, done: 0 })
  })

  test('writes one audit record with the count and the names, and its ID into each change', async () => {
    const labels = newLabel()
    for (const name of ['audited-b', 'audited-a']) await make(name, {}, { labels })
    const answer = await revoke({ selector: { matchLabels: labels } })
    expect(recordOf(answer)).toMatchObject({
      verb: 'create',
      resource: 'accesskeyrevocations',
      count: 2,
      names: ['audited-a', 'audited-b'],
      code: 201,
    })
  })
})

describe('the line of a key', () => {
  test('survives deletions, and selects what a key made at any depth', async () => {
    const root = await make('line-root', { user: 'dora', groups: ['system:masters'] })
    const a = await make('line-a', {}, {}, root.token)
    const b = await make('line-b', {}, {}, a.token)
    const c = await make('line-c', {}, {}, b.token)
    await make('line-d', {}, {}, c.token)
    expect((await get('line-d')).status.madeWith).toEqual({ name: 'line-c', uid: c.uid })
    for (const name of ['line-a', 'line-c']) await server.call(`${keys}/${name}`, { method: 'DELETE' })
    const all = await revoke({ madeWith: { name: 'line-root' } }, { dryRun: true })
    expect(namesOf(all)).toEqual(['line-b', 'line-d'])
    expect(namesOf(await revoke({ madeWith: { uid: a.uid } }, { dryRun: true }))).toEqual(['line-b', 'line-d'])
    const direct = await revoke({ madeWith: { uid: a.uid, descendants: false } }, { dryRun: true })
    expect(namesOf(direct)).toEqual(['line-b'])
    expect(causesOf(await revoke({ madeWith: { name: 'line-a' } }))).toEqual([
      'spec.madeWith.name: Invalid value: "line-a": you may see no access key with this name: give the uid of a deleted one',
    ])
    const done = await revoke({ madeWith: { uid: a.uid, name: 'line-a' } })
    expect(done.json.status).toMatchObject({ matched: 2, done: 2 })
    expect(await isDisabled('line-d')).toBe(true)
    expect(await isDisabled('line-root')).toBe(false)
  })
})
