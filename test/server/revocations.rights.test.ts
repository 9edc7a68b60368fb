/** Who may revoke which keys, and what a revocation tells about others. */
import { describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import { keys } from '../support/objects.ts'
import { causesOf, namesOf, revokingOn } from '../support/revocations.ts'
import type { MadeKey } from '../support/server.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer({ MAX_KEYS_PER_OWNER: '0' })
const { revoke, make, patch, get, isDisabled, use } = revokingOn(() => server)

const rules = (verbs: string[], resources: string[], resourceNames?: string[]): Scope => ({
  rules: [{ verbs, resources: [{ group: 'management.platform', resources, ...(resourceNames && { resourceNames }) }] }],
})
const revoker = rules(['create', 'list', 'patch', 'delete'], ['accesskeyrevocations', 'ownedaccesskeys'])

let people = 0
/** Returns a user whom no other test has, with a key. */
async function person(spec: object = {}): Promise<MadeKey & { user: string }> {
  const user = `person-${++people}`
  return { user, ...(await make(`key-of-${user}`, { user, ...spec })) }
}

describe('a user', () => {
  // threat: revocation-10
  test('revokes only own keys, and learns nothing of others', async () => {
    const [alice, bob] = [await person(), await person()]
    const own = await make(`${alice.user}-ci`, { user: alice.user })
    const made = await make(`${bob.user}-ci`, {}, {}, bob.token)
    const asking = { token: alice.token }
    const all = await revoke({ all: true }, asking)
    expect(all.json.status).toMatchObject({ matched: 1, done: 1, byOwner: { [alice.user]: 1 } })
    expect(await use(own.token)).toBe(401)
    // Hidden keys answer like missing ones.
    for (const spec of [
      { names: ['NAME'] },
      { users: [bob.user] },
      { madeWith: { uid: bob.uid } },
      { createdBefore: new Date().toISOString(), users: [bob.user] },
    ]) {
      const text = (name: string) => JSON.parse(JSON.stringify(spec).replace('NAME', name))
      const [hidden, missing] = [await revoke(text(made.name), asking), await revoke(text('missing'), asking)]
      expect(hidden.json.status).toEqual({ matched: 0, done: 0, failed: 0, remaining: false, byOwner: {}, keys: [] })
      expect([hidden.status, hidden.headers.warning]).toEqual([missing.status, missing.headers.warning])
    }
    const named = (name: string) => revoke({ madeWith: { name } }, asking)
    const [hidden, missing] = [await named(bob.name), await named('missing')]
    expect(causesOf(hidden).map((one) => one.replace(bob.name, 'missing'))).toEqual(causesOf(missing))
    expect(await use(made.token)).toBe(201)
  })

  // threat: revocation-15
  test('sees which key made one only if both were made for the same identity', async () => {
    const alice = await person()
    const own = await make(`${alice.user}-own`, {}, {}, alice.token)
    const given = await make(`${alice.user}-given`, { user: alice.user })
    const reader = await make(`${alice.user}-reader`, { user: alice.user })
    const seen = async (name: string, token: string) => (await get(name, token)).status.madeWith
    expect(await seen(own.name, reader.token)).toEqual({ name: alice.name, uid: alice.uid })
    expect(await seen(given.name, reader.token)).toBeUndefined()
    // A key says nothing of what it made itself.
    expect(await seen(own.name, alice.token)).toBeUndefined()
    const table = { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' }, token: reader.token }
    const { json } = await server.call(keys, table)
    const column = json.columnDefinitions.findIndex(({ name }: { name: string }) => name === 'Made With')
    const cells = json.rows.map(({ cells }: { cells: string[] }) => [cells[0], cells[column]])
    expect(Object.fromEntries(cells)).toMatchObject({ [own.name]: alice.name, [given.name]: null })
  })
})

describe('a key with a scope', () => {
  // threat: revocation-11
  test('reaches only keys that carry the scope', async () => {
    const alice = await person()
    const scoped = await make(`${alice.user}-scoped`, { user: alice.user, scope: revoker })
    const carrying = await make(`${alice.user}-carrying`, {}, {}, scoped.token)
    const answer = await revoke({ all: true }, { token: scoped.token })
    expect([namesOf(answer), answer.json.status.done]).toEqual([[carrying.name], 1])
    expect([await use(carrying.token), await use(alice.token)]).toEqual([401, 201])
  })

  // threat: revocation-11
  test.each<[string, Scope, number]>([
    ['revocations', rules(['list', 'patch'], ['ownedaccesskeys']), 403],
    ['lists of keys', rules(['create', 'patch'], ['accesskeyrevocations', 'ownedaccesskeys']), 0],
    ['changes of keys', rules(['create', 'list'], ['accesskeyrevocations', 'ownedaccesskeys']), 0],
    ['deletions', rules(['create', 'list', 'delete'], ['accesskeyrevocations', 'ownedaccesskeys']), 0],
  ])('revokes nothing if the scope does not allow %s', async (_, scope, refused) => {
    const root = await make(`root-${++people}`, { user: 'root', groups: ['system:masters'], scope })
    const made = await make(`made-${people}`, { user: 'root', scope })
    const answer = await revoke({ names: [made.name] }, { token: root.token })
    expect([answer.status, answer.json.status?.matched]).toEqual(refused ? [403, undefined] : [201, 0])
    expect(await isDisabled(made.name)).toBe(false)
  })

  // threat: revocation-11
  test('revokes only the keys that the scope names', async () => {
    const named = `only-${++people}`
    const scope: Scope = {
      rules: [
        ...(rules(['create'], ['accesskeyrevocations']).rules ?? []),
        ...(rules(['list', 'delete'], ['ownedaccesskeys'], [named]).rules ?? []),
      ],
    }
    const root = await make(`root-${people}`, { user: 'root', groups: ['system:masters'], scope })
    for (const name of [named, `other-${people}`]) await make(name, { user: 'root', scope })
    const answer = await revoke({ users: ['root'], action: 'Delete' }, { token: root.token })
    expect(answer.json.status).toMatchObject({ matched: 1, done: 1, keys: [{ name: named }] })
  })

  // threat: revocation-15
  test('sees no maker of a key that does not carry the scope', async () => {
    const scope = rules(['get', 'list'], ['ownedaccesskeys'])
    const reader = await make(`reader-${++people}`, { user: 'root', groups: ['system:masters'], scope })
    const free = await make(`free-${people}`, { user: 'root' })
    expect((await get(free.name, reader.token)).status.madeWith).toBeUndefined()
    const carrying = await make(`carrying-${people}`, { user: 'root', scope })
    expect((await get(carrying.name, reader.token)).status.madeWith).toMatchObject({ uid: expect.any(String) })
  })
})

test('a key that is limited to source addresses disables and deletes keys for others', async () => {
  const alice = await person()
  const limited = await make(`${alice.user}-limited`, { user: alice.user, sourceCIDRs: ['127.0.0.0/8', '::1'] })
  const other = await make(`${alice.user}-other`, { user: alice.user })
  const asking = { token: limited.token }
  expect((await revoke({ names: [other.name] }, asking)).json.status).toMatchObject({ done: 1, failed: 0 })
  expect((await revoke({ names: [other.name], action: 'Delete' }, asking)).json.status).toMatchObject({ done: 1 })
})

test('a key that the rules of a patch protect is counted as failed, with the reason, and stops no other', async () => {
  const alice = await person()
  const given = await make(`${alice.user}-a`, { user: alice.user, groups: ['ops'] })
  const own = await make(`${alice.user}-b`, { user: alice.user })
  const alone = await patch(given.name, { spec: { disabled: true } }, alice.token)
  for (const dryRun of [true, false]) {
    const { json } = await revoke({ names: [given.name, own.name] }, { token: alice.token, dryRun })
    expect(json.status).toMatchObject({ matched: 2, done: 1, failed: 1, remaining: false })
    expect(json.status.failures).toEqual([{ name: given.name, code: alone.status, message: alone.json.message }])
  }
  expect([await use(own.token), await use(given.token)]).toEqual([401, 201])
})

describe('the key of the request', () => {
  test('is left out with a Warning, also when it was made with the selected key', async () => {
    const alice = await person()
    const own = await make(`${alice.user}-caller`, {}, {}, alice.token)
    const other = await make(`${alice.user}-other`, {}, {}, alice.token)
    const answer = await revoke({ madeWith: { name: alice.name } }, { token: own.token })
    expect(namesOf(answer)).toEqual([other.name])
    expect(String(answer.headers.warning)).toContain(`your own access key \\"${own.name}\\" matches and is left out`)
    expect(await use(own.token)).toBe(201)
  })

  test.each(['Disable', 'Delete'])('is revoked with includeSelf: %s', async (action) => {
    const alice = await person()
    const other = await make(`${alice.user}-other`, { user: alice.user })
    const answer = await revoke({ users: [alice.user], action, includeSelf: true }, { token: alice.token })
    expect(answer.json.status).toMatchObject({ matched: 2, done: 2, failed: 0, remaining: false })
    expect([await use(other.token), await use(alice.token)]).toEqual([401, 401])
    expect(server.auditOf(answer)).toMatchObject({ count: 2, names: [alice.name, other.name] })
  })
})

test('a name that matches nothing is said, and not which', async () => {
  const { name } = await person()
  const { headers } = await revoke({ names: [name, 'missing', 'missing-too'] }, { dryRun: true })
  expect(String(headers.warning)).toContain('2 of the names match no key that you can revoke')
})
