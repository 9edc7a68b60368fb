/** Looks up the values of access keys through the whole API: who learns what, and that it is not a use of the value. */
import { describe, expect, test } from 'vitest'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { keys, management } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'

const server = useServer()
const path = `${management}/accesskeylookups`

const ask = (value: string, token?: string) => server.post(path, { spec: { key: value } }, token)
async function lookUp(value: string, token?: string) {
  const { status, json } = await ask(value, token)
  expect([status, json.message]).toEqual([201, undefined])
  return json.status
}
const resource = (resources: string, verbs: string[], resourceNames?: string[]) => ({
  verbs,
  resources: [{ group: 'management.platform', resources: [resources], ...(resourceNames && { resourceNames }) }],
})
const LOOKUPS = resource('accesskeylookups', ['create'])
const unknown = 'u'.repeat(40)

describe('a lookup', () => {
  test('tells the owner and administrators whose value it is', async () => {
    const { name, token: value } = await server.makeKey({ user: 'ann' })
    const { json } = await server.call(`${keys}/${name}`, { token: server.adminKey })
    const found = { name, uid: json.metadata.uid, phase: 'Active', owner: 'ann' }
    expect([await lookUp(value), await lookUp(value, value)]).toEqual([found, found])
    const team = await server.makeKey({ team: 'ops' })
    expect(await lookUp(team.token)).toMatchObject({ name: team.name, owner: 'team:ops' })
  })

  // threat: lookups-1
  test('has the same answer for a stranger as for an unknown value', async () => {
    const stranger = await server.makeKey({ user: 'eve' })
    const { name, token: value } = await server.makeKey({ user: 'ann' })
    const gone = await server.makeKey({ user: 'eve' })
    await server.call(`${keys}/${gone.name}`, { method: 'DELETE', token: server.adminKey })
    const answers = [await ask(unknown, stranger.token), await ask(value, stranger.token), await ask(gone.token)]
    const bodies = answers.map(({ text }) => text.replace(/\d{4}-\d\d-\d\dT[\d:]+Z/, 'TIME'))
    expect([new Set(bodies).size, answers[0]?.json.status]).toEqual([1, {}])
    const notes = answers.map((answer) => {
      const { review, reviewedKey } = server.auditOf(answer)
      return [review, reviewedKey]
    })
    expect(notes).toEqual([
      ['unknown', undefined],
      ['hidden', name],
      ['unknown', undefined],
    ])
  })

  // threat: lookups-1
  test('shows what the scopes of the caller may get', async () => {
    const { name, token: value } = await server.makeKey({ user: 'ann' })
    const withScope = async (scope: object, spec: object = { user: 'ann' }) =>
      (await server.makeKey({ ...spec, scope })).token
    const getOf = (names?: string[]) => resource('ownedaccesskeys', ['get'], names)
    const admin = { user: 'root', groups: ['system:masters'] }
    const cases: [token: string, isFound: boolean][] = [
      [await withScope({ rules: [LOOKUPS] }), false],
      [await withScope({ rules: [LOOKUPS, getOf()] }), true],
      [await withScope({ rules: [LOOKUPS, getOf([name])] }), true],
      [await withScope({ rules: [LOOKUPS, getOf(['other'])] }), false],
      [await withScope({ rules: [LOOKUPS], roles: [{ role: 'platformCLI' }] }), true],
      [await withScope({ rules: [LOOKUPS], roles: [{ role: 'platformCLI' }] }, admin), false],
      [await withScope({ rules: [LOOKUPS, getOf()] }, admin), true],
      [await withScope({ rules: [LOOKUPS, getOf()] }, { user: 'eve' }), false],
    ]
    for (const [index, [token, isFound]] of cases.entries()) {
      expect([index, (await lookUp(value, token)).name === name]).toEqual([index, isFound])
    }
    const self = { rules: [LOOKUPS], roles: [{ role: 'selfRotate' }] }
    const rotating = await server.makeKey({ user: 'ann', ttl: 3600, scope: self })
    expect(await lookUp(value, rotating.token)).toEqual({})
    expect(await lookUp(rotating.token, rotating.token)).toMatchObject({ name: rotating.name })
  })

  test.each([{ roles: [{ role: 'selfRotate' }] }, { projects: [{ project: '*' }] }, {}])(
    'is a 403 for a key with the scope %j',
    async (scope) => {
      const { token: value } = await server.makeKey({ user: 'ann', ttl: 3600, scope })
      expect(await ask(value, value)).toMatchObject({ status: 403, json: { reason: 'Forbidden' } })
    },
  )

  // threat: lookups-1
  test('shows the key of an exchange the keys of its user', async () => {
    const federation = newFederation()
    await openGates(server.parts, federation)
    const { token } = await createExchangedKey(server.parts, federation)
    const [own, other] = [await server.makeKey({ user: 'alice' }), await server.makeKey({ user: 'ann' })]
    expect([(await lookUp(own.token, token)).name, await lookUp(other.token, token)]).toEqual([own.name, {}])
  })

  test('is a 401 for a caller whose key is disabled', async () => {
    const { token: value } = await server.makeKey({ user: 'ann', disabled: true })
    expect((await ask(value, value)).status).toBe(401)
    expect(await lookUp(value)).toMatchObject({ phase: 'Disabled' })
  })

  test('tells which values of a rotated key have ended', async () => {
    const { name, token: value } = await server.makeKey({ user: 'ann' })
    const rotate = async (spec: object) => (await server.post(`${keys}/${name}/rotate`, { spec })).json.status.key
    const phaseOf = async (one: string) => (await lookUp(one)).phase
    const use = (one: string) => server.post(`${management}/selves`, {}, one)
    const next = await rotate({})
    await use(next)
    expect([await phaseOf(value), await phaseOf(next)]).toEqual(['Active', 'Active'])
    await server.post(`${keys}/${name}/rotate`, { spec: { finish: true } })
    const last = await rotate({ overlapSeconds: 0 })
    await use(last)
    // The row and the credential of the value do not know yet that it has ended.
    expect([await phaseOf(value), await phaseOf(next), await phaseOf(last)]).toEqual(['Ended', 'Ended', 'Active'])
    await server.call('/leaks', { method: 'POST', token: '', body: { credentials: [last] } })
    expect([await phaseOf(last), await lookUp(last, (await server.makeKey({ user: 'eve' })).token)]).toEqual([
      'Ended',
      {},
    ])
  })

  test('tells that a key waits for its finalizers, and names no other key that has the name later', async () => {
    const metadata = { name: 'again', finalizers: ['example.com/wait'] }
    const { name, token: value } = await server.makeKey({ user: 'ann' }, metadata)
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    expect(await lookUp(value)).toMatchObject({ name, phase: 'Terminating' })
    // The value stays known as leaked.
    await server.call('/leaks', { method: 'POST', token: '', body: { credentials: [value] } })
    await server.patch(`${keys}/${name}`, { metadata: { finalizers: null } })
    const { token } = await server.makeKey({ user: 'ann' }, { name })
    expect([await lookUp(value), (await lookUp(token)).name]).toEqual([{}, name])
  })

  // threat: lookups-3, lookups-4
  test('is no use of the value, and leaves no trace of it', async () => {
    const { name, token: value } = await server.makeKey({ user: 'ann' })
    const { json } = await server.post(`${keys}/${name}/rotate`, {})
    await lookUp(unknown)
    const caller = (await server.post(`${management}/selves`, {})).json.status.uid
    // Requests note when the key of the caller was used and what for, but not which value it looked up.
    const ofOthers = async () =>
      (await server.store.all()).filter(({ pk, uid }) => uid !== caller && pk !== `usage#${caller}`)
    const before = await ofOthers()
    for (const one of [value, json.status.key]) {
      expect((await server.post(`${path}?dryRun=All`, { spec: { key: one } })).json.status.name).toBe(name)
      expect(await lookUp(one)).toMatchObject({ name, phase: 'Active' })
    }
    expect(await ofOthers()).toEqual(before)
    const log = server.log.join('')
    for (const one of [value, json.status.key, unknown]) expect(log).not.toContain(one)
    expect(server.auditOf(await ask(value))).toMatchObject({ review: 'found', reviewedKey: name, user: 'admin' })
  })
})
