/** Tests what a revocation does with federated identity credentials, called trusts: they give keys after the keys of their owner ended. */
import { beforeAll, expect, test } from 'vitest'
import type { UserInfo } from '../../../lib/access/users/user.ts'
import { useFunctions } from '../../support/functions.ts'
import type { Answer } from '../../support/request.ts'
import { admin, userNamed, withScopes } from '../../support/users.ts'

const functions = useFunctions()
const scope = { projects: [{ project: 'shop' }] }
const claims = [{ claim: 'repository_id', values: ['74'] }]

beforeAll(async () => {
  const access = [{ verbs: ['use'], teams: ['*'] }]
  for (const [name, issuer] of [
    ['github', 'https://token.actions.githubusercontent.com'],
    ['company', 'https://login.example.com'],
  ]) {
    const owner = { claims: [{ claim: 'repository_owner_id', values: ['65'] }] }
    const spec = { issuer, access, ...(name === 'github' && owner) }
    const { status } = await functions.invoke('identityproviders/create', { body: { metadata: { name }, spec } })
    expect(status).toBe(201)
  }
})

async function trust(name: string, spec: object = {}, user: UserInfo = admin, metadata: object = {}): Promise<string> {
  const body = { metadata: { name, ...metadata }, spec: { identityProvider: 'github', claims, scope, ...spec } }
  const { status, json, text } = await functions.invoke('federatedidentitycredentials/create', { user, body })
  expect([status, text]).toEqual([201, text])
  return json.metadata.uid
}

const verified = { claim: 'email_verified', values: ['true'] }
const people = (emails?: string[]) => ({
  identityProvider: 'company',
  claims: emails ? [{ claim: 'email', values: emails }, verified] : [{ claim: 'groups', values: ['engineering'] }],
  claimMappings: { username: { claim: 'email', prefix: 'company:' } },
  scope,
})

const makeKey = async (name: string, spec: object) =>
  expect((await functions.invoke('ownedaccesskeys/create', { body: { metadata: { name }, spec } })).status).toBe(201)

const revoke = (spec: object, { user = admin, dryRun = false } = {}) =>
  functions.invoke('accesskeyrevocations/create', { user, query: dryRun ? { dryRun: 'All' } : {}, body: { spec } })

const closing = (spec: object, asking?: { user?: UserInfo; dryRun?: boolean }) =>
  revoke({ federatedIdentityCredentials: true, ...spec }, asking)

const warningOf = ({ headers }: Answer) => [headers.warning ?? []].flat().join('\n')
const trustsOf = ({ json }: Answer) => {
  const { matched, done, failed, items } = json.status.federatedIdentityCredentials
  return { matched, done, failed, names: items.map(({ name }: { name: string }) => name) }
}

async function read(name: string) {
  const { status, json } = await functions.invoke('federatedidentitycredentials/get', { parameters: { name } })
  return status === 200 ? json : undefined
}
const isOpen = async (name: string) => (await read(name))?.spec.disabled !== true

// threat: revocation-17
test('a revocation by owner warns of the trusts that it leaves, also in a dry run', async () => {
  await makeKey('ann-1', { user: 'ann' })
  await trust('ann-ci', { user: 'ann' })
  await trust('ann-second', {}, userNamed('ann'))
  await trust('ann-off', { user: 'ann', disabled: true })
  await trust('team-ci', { team: 'ann' })
  const text =
    '2 federated identity credentials (ann-ci, ann-second) may keep issuing access keys: disable them, or set spec.federatedIdentityCredentials'
  for (const dryRun of [true, false]) {
    const answer = await revoke({ users: ['ann'] }, { dryRun })
    expect([answer.json.status.matched, warningOf(answer)]).toEqual([1, expect.stringContaining(text)])
    expect(answer.json.status.federatedIdentityCredentials).toBeUndefined()
  }
  expect(await isOpen('ann-ci')).toBe(true)
  expect(warningOf(await revoke({ teams: ['ann'] }))).toContain('1 federated identity credential (team-ci) may keep')
  expect(warningOf(await revoke({ names: ['nothing'] }))).not.toContain('federated')
  expect(warningOf(await revoke({ users: ['nobody'] }))).toBe('')
})

// threat: revocation-17
test('closes the trusts of an owner if it is asked to, and a dry run counts them', async () => {
  await trust('ben-ci', { user: 'ben' }, admin, { labels: { app: 'shop' } })
  await trust('ben-own', {}, userNamed('ben'))
  await trust('other', { user: 'other' })
  const both = { matched: 2, failed: 0, names: ['ben-ci', 'ben-own'] }
  expect(trustsOf(await closing({ users: ['ben'] }, { dryRun: true }))).toEqual({ ...both, done: 2 })
  expect(await isOpen('ben-ci')).toBe(true)
  const few = await closing({ users: ['ben'], atMost: 1 })
  expect([few.status, few.json.message]).toEqual([
    422,
    expect.stringContaining('selects 0 access keys and 2 federated identity credentials, and has changed nothing'),
  ])
  const some = await closing({ users: ['ben'], selector: { matchLabels: { app: 'shop' } } }, { dryRun: true })
  expect(trustsOf(some).names).toEqual(['ben-ci'])
  expect(warningOf(some)).toContain('1 federated identity credential (ben-own) may keep issuing access keys: disable')
  const answer = await closing({ users: ['ben'], reason: 'has left', atMost: 2 })
  expect(trustsOf(answer)).toEqual({ ...both, done: 2 })
  expect(warningOf(answer)).toBe('')
  const { spec, metadata } = await read('ben-own')
  expect([spec.disabled, metadata.annotations]).toEqual([true, { 'management.platform/disabled-reason': 'has left' }])
  expect(await isOpen('other')).toBe(true)
  expect(trustsOf(await closing({ users: ['ben'] })).matched).toBe(0)
  expect(trustsOf(await closing({ users: ['ben'], action: 'Delete' })).done).toBe(2)
  expect(await read('ben-own')).toBeUndefined()
})

// threat: revocation-18
test('closes a trust through which only the user logs in, and warns of one through which others do', async () => {
  await trust('staff', people())
  await trust('eva', people(['eva@x']))
  await trust('pair', people(['eva@x', 'fay@x']))
  await trust('fays', people(['fay@x']))
  const answer = await closing({ users: ['company:eva@x'] })
  expect(trustsOf(answer).names).toEqual(['eva'])
  expect(warningOf(answer)).toContain(
    '2 federated identity credentials (pair, staff) may still log in these users: close their accounts at the identity provider',
  )
  // A user of another issuer, whom no trust logs in.
  expect(warningOf(await closing({ users: ['other:eva@x'] }))).toBe('')
})

// threat: revocation-17
test('finds the trusts that a stolen key made, and those that its descendants made', async () => {
  const thief = { ...userNamed('thief'), key: { ...userNamed('thief').key, uid: 'stolen' } }
  const child = { ...thief, key: { ...thief.key, uid: 'child' }, makers: ['stolen'] }
  await trust('made-1', {}, thief)
  await trust('made-2', {}, child)
  await trust('made-3', {}, userNamed('thief'))
  const named = async (madeWith: object) => trustsOf(await closing({ madeWith }, { dryRun: true })).names
  expect(await named({ uid: 'stolen' })).toEqual(['made-1', 'made-2'])
  expect(await named({ uid: 'stolen', descendants: false })).toEqual(['made-1'])
  expect(warningOf(await revoke({ madeWith: { uid: 'stolen' } }))).toContain(
    '2 federated identity credentials (made-1,',
  )
})

// threat: revocation-18
test('reaches and names only trusts that the user may see and change', async () => {
  await trust('gus-ci', { user: 'gus' })
  await trust('gus-open', { user: 'gus', scope: { rules: [{}] } })
  await trust('ida-ci', { user: 'ida' })
  const everything = { all: true }
  const [gus, ida] = [userNamed('gus'), userNamed('ida')]
  const own = await closing(everything, { user: gus, dryRun: true })
  expect(trustsOf(own).names).toEqual(['gus-ci', 'gus-open'])
  const other = await closing({ users: ['gus'] }, { user: ida })
  expect([trustsOf(other).matched, warningOf(other)]).toEqual([0, ''])
  const ofKeys = { rules: [{ resources: [{ group: 'management.platform', resources: ['ownedaccesskeys'] }] }] }
  const blind = await closing(everything, { user: withScopes(gus, ofKeys) })
  expect([trustsOf(blind).matched, warningOf(blind)]).toEqual([0, ''])
  const reader = withScopes(gus, { rules: [{ verbs: ['create', 'list', 'use'] }] })
  await trust('gus-read', {}, reader)
  expect(trustsOf(await closing(everything, { user: reader })).matched).toBe(0)
  // A key with a scope changes only what carries it.
  expect(trustsOf(await closing(everything, { user: withScopes(gus, { rules: [{}] }) })).names).toEqual(['gus-open'])
})

// threat: revocation-18
test('spares the trust of its own key, unless it is asked for', async () => {
  const uid = await trust('jan-ci', { user: 'jan' })
  await trust('jan-other', { user: 'jan' })
  const federation = { trust: { uid, revision: 0 }, provider: { uid: 'p', revision: 0 }, run: 'a run' }
  const user = { ...userNamed('jan'), federation }
  const spared = await closing({ all: true }, { user })
  expect(trustsOf(spared).names).toEqual(['jan-other'])
  expect(warningOf(spared)).toContain(
    'the federated identity credential of your own access key matches and is left out',
  )
  expect(trustsOf(await closing({ all: true, includeSelf: true }, { user })).names).toEqual(['jan-ci'])
  expect(await isOpen('jan-ci')).toBe(false)
})

test.each([{ types: ['User'] }, { unusedSince: '2020-01-01T00:00:00Z' }, { unscoped: true }, { names: ['a'] }])(
  'is a 422 with %j, which no trust has',
  async (spec) => {
    const { status, json } = await closing(spec)
    const [member] = Object.keys(spec)
    expect([status, json.message]).toEqual([
      422,
      expect.stringContaining(`spec.${member}: Forbidden: may not be set with spec.federatedIdentityCredentials`),
    ])
  },
)
