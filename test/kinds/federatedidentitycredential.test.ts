/** Tests FederatedIdentityCredential: the contract of stored kinds, then its rules, whose it is, and its gate. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import type { UserInfo } from '../../lib/access/users/user.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import { listObjects } from '../../lib/engine/registry/read.ts'
import { accessTo, presentObject } from '../../lib/engine/registry/store.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { toTrust } from '../../lib/federation/trust.ts'
import { endless } from '../support/deadlines.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, bob, contextOf, userNamed, withScopes } from '../support/users.ts'
import { describeKind, refusal, worldOf } from './contract.ts'
import cases from './vectors/federatedidentitycredential.cases.json' with { type: 'json' }

let deployment: TestDeployment
const shared = { access: [{ verbs: ['use'], teams: ['*'] }] }
beforeAll(async () => {
  deployment = await startDeployment('https://keyplane.example.com')
  const owner = [{ claim: 'repository_owner_id', values: ['1'] }]
  await provide('github', { issuer: 'https://token.actions.githubusercontent.com', claims: owner, ...shared })
  await provide('company', { issuer: 'https://login.example.com', maxTTL: 7200, ...shared })
  await provide('entra', { issuer: 'https://login.microsoftonline.com/5f9c1c3e-0f5e-4b6c-9a39-7a3c8d1f2b6a/v2.0' })
  await provide('hidden', { issuer: 'https://issuer.example.com', access: [{ verbs: ['use'], users: ['alice'] }] })
})
afterAll(() => deployment?.stop())

const provide = (name: string, spec: JsonObject) => {
  const world = worldOf(IdentityProvider, deployment.parts)
  return world.create(world.object({ name }, spec))
}

const kind = FederatedIdentityCredential
const claims = [
  { claim: 'repository_id', values: ['456789'] },
  { claim: 'environment', values: ['production'] },
]
const valid = { identityProvider: 'github', claims, scope: { projects: [{ project: 'shop' }] } }
const people = {
  identityProvider: 'company',
  claims: [{ claim: 'groups', values: ['engineering'] }],
  claimMappings: { username: { claim: 'email', prefix: 'company:' } },
}

describeKind(kind, () => deployment.parts, {
  valid,
  invalid: [
    { spec: { ...valid, ttl: 59 }, fields: ['spec.ttl'] },
    {
      spec: { ...valid, claims: [{ claim: 'a', values: Array.from({ length: 33 }, () => 'b') }] },
      fields: ['spec.claims[0].values'],
    },
    { spec: { ...valid, scope: { roles: [{ role: 'root' }] } }, fields: ['spec.scope.roles[0].role'] },
    { spec: { ...valid, claims: [...claims, { claim: 'iss', values: ['a'] }] }, fields: ['spec.claims[2].claim'] },
  ],
  updates: [
    { ...valid, displayName: 'Other' },
    { ...valid, ttl: 600, disabled: true },
    { ...valid, claims: [{ claim: 'repository_id', values: ['1', '2'] }], scope: {} },
  ],
})

let count = 0
const fresh = () => `trust-${++count}`
const world = () => worldOf(kind, deployment.parts)
const prefixOf = (name: string) => `FederatedIdentityCredential.management.platform "${name}" is invalid: `
const forbiddenPrefix = (name: string) => `federatedidentitycredentials.management.platform "${name}" is forbidden: `

async function made(spec: JsonObject = valid, user: UserInfo = admin) {
  const name = fresh()
  const context = contextOf(user)
  await world().create(world().object({ name }, spec), { context })
  const stored = await world().read(name)
  return { name, stored, uid: stored.object.metadata.uid, warnings: context.warnings }
}

/** Returns the code and the message, without the name of the object, of a create that is refused. */
async function refused(spec: JsonObject, user: UserInfo = admin): Promise<string> {
  const name = fresh()
  const { code, message = '' } = await refusal(
    world().create(world().object({ name }, spec), { context: contextOf(user) }),
  )
  return `${code} ${message.replace(prefixOf(name), '').replace(forbiddenPrefix(name), '')}`
}

const change = (name: string, spec: JsonObject, user: UserInfo = admin) =>
  world().change(name, (live) => ({ ...live, spec }), { context: contextOf(user) })

async function refusedChange(name: string, spec: JsonObject, user: UserInfo = admin): Promise<string> {
  const { code, message = '' } = await refusal(change(name, spec, user))
  return `${code} ${message.replace(prefixOf(name), '').replace(forbiddenPrefix(name), '')}`
}

const soon = Math.floor(Date.now() / 1000) + 3600
/** The user with a key that ends in an hour. */
const ending = (user: UserInfo, more: object = {}): UserInfo => ({
  ...user,
  key: { ...user.key, expires: soon, ...more },
})
const scoped = (user: UserInfo, ...chain: Scope[]) => withScopes(user, ...chain)
const shop: Scope = { projects: [{ project: 'shop' }] }
/** Whoever makes a trust must be allowed to use its provider. */
const usesProviders: Scope = {
  rules: [{ verbs: ['use'], resources: [{ group: 'management.platform', resources: ['identityproviders'] }] }],
}
const shopMaker: Scope = { ...shop, ...usesProviders }

describe('the provider', () => {
  // threat: exchange-54
  test('that does not exist, or that the user may not use, is a 422 with one text', async () => {
    const reason = (name: string) => `422 spec.identityProvider: Invalid value: "${name}": not found`
    expect(await refused({ ...valid, identityProvider: 'nothing' }, bob)).toBe(reason('nothing'))
    expect(await refused({ ...valid, identityProvider: 'hidden' }, bob)).toBe(reason('hidden'))
    await made({ identityProvider: 'hidden', claims: [{ claim: 'sub', values: ['a'] }], scope: {} }, alice)
  })

  test('is another one when it has been deleted and made again under its name', async () => {
    const again = { identityProvider: 'again', claims: [{ claim: 'sub', values: ['a'] }], scope: {} }
    await provide('again', { issuer: 'https://issuer.example.com', ...shared })
    const { name, stored } = await made(again)
    const first = toTrust(stored).providerUid
    await worldOf(IdentityProvider, deployment.parts).remove('again')
    await provide('again', { issuer: 'https://issuer.example.com', ...shared })
    expect(await refusedChange(name, { ...again, ttl: 600 })).toBe(
      '422 spec.identityProvider: Invalid value: "again": was deleted, and another one has its name: delete this credential and create it again',
    )
    // Its owner can still disable it.
    const { stored: disabled } = await change(name, { ...again, disabled: true })
    expect(toTrust(disabled).providerUid).toBe(first)
    expect(await refusedChange(name, again)).toContain('was deleted')
  })

  test('whose scope has a rule that another list says is a warning', async () => {
    await provide('ruled', { issuer: 'https://issuer.example.com', ...shared })
    const claims = [{ claim: 'sub', values: ['a'] }]
    const { warnings } = await made({ identityProvider: 'ruled', claims, scope: { rules: [{ cluster: 'eu' }] } })
    expect(warnings).toEqual(['spec.scope.rules[0]: deprecated since v1; use spec.scope.clusters instead'])
  })

  test('that is disabled is a warning', async () => {
    await provide('off', { issuer: 'https://issuer.example.com', disabled: true })
    const { warnings } = await made({ identityProvider: 'off', claims: [{ claim: 'sub', values: ['a'] }], scope: {} })
    expect(warnings).toEqual(['spec.identityProvider: off is disabled'])
  })
})

describe('a cluster', () => {
  const trustIn = (identityProvider: string, entry: object) => ({
    identityProvider,
    claims: [{ claim: 'sub', ...entry }],
    scope: {},
  })

  // threat: exchange-12
  test('that is recognized by its issuer demands a namespace', async () => {
    await provide('aks', { issuer: 'https://eastus.oic.prod-aks.azure.com/tenant/cluster/', ...shared })
    const reason = 'must be system:serviceaccount:NAMESPACE:*'
    expect(await refused(trustIn('aks', { patterns: ['system:serviceaccount:*:*'] }))).toContain(reason)
    expect((await made(trustIn('aks', { patterns: ['system:serviceaccount:shop:*'] }))).warnings).toEqual([])
  })

  test('whose provider has another type is a warning', async () => {
    await provide('unrecognized', { issuer: 'https://issuer.example.com', ...shared })
    const { warnings } = await made(trustIn('unrecognized', { values: ['system:serviceaccount:shop:operator'] }))
    expect(warnings).toEqual([
      'spec.claims: tokens of service accounts are refused until unrecognized has spec.type: Kubernetes',
    ])
  })
})

describe('the claims', () => {
  const github = 'https://token.actions.githubusercontent.com'
  test.each<[string, JsonObject[], string]>([
    [
      'without an id of the tenant',
      [{ claim: 'ref', values: ['refs/heads/main'] }],
      `spec.claims: Required value: ${github} signs for everyone: bind one of repository_id, repository_owner_id, enterprise_id to exact values`,
    ],
    [
      'with a claim twice',
      [...claims, { claim: 'environment', values: ['staging'] }],
      'spec.claims[2].claim: Duplicate value: "environment"',
    ],
    [
      'with too many values',
      [...claims, { claim: 'ref', values: Array.from({ length: 31 }, (_, index) => `v${index}`) }],
      'spec.claims: Too many: 33: must have at most 32 items',
    ],
    [
      'with a leading wildcard',
      [...claims, { claim: 'ref', patterns: ['*'] }],
      'spec.claims[2].patterns[0]: Invalid value: "*": must not begin with a wildcard',
    ],
  ])('%s are a 422', async (_, entries, reason) => {
    expect(await refused({ ...valid, claims: entries })).toBe(`422 ${reason}`)
  })

  test('that admit every branch are a warning', async () => {
    const { warnings } = await made({ ...valid, claims: [{ claim: 'repository_id', values: ['1'] }] })
    expect(warnings).toEqual([expect.stringContaining('spec.claims: ')])
  })
})

describe('the limits', () => {
  test('a scope is required', async () => {
    const { scope: _, ...without } = valid
    expect(await refused(without)).toBe(
      '422 spec.scope: Required value: limits what exchanged keys may do; {} allows only discovery and self-reviews',
    )
    await made({ ...valid, scope: {} })
  })

  test('the ttl is at most the setting, and at most maxTTL of the provider', async () => {
    expect(await refused({ ...valid, ttl: 43_201 })).toBe(
      '422 spec.ttl: Invalid value: 43201: must not be more than the maximum of 43200 seconds',
    )
    expect(await refused({ ...people, scope: {}, ttl: 7201 })).toBe(
      '422 spec.ttl: Invalid value: 7201: must not be more than the maximum of 7200 seconds',
    )
  })

  test('a ttl above a maximum that was lowered later may stay', async () => {
    const lowered = { identityProvider: 'lowered', claims: [{ claim: 'sub', values: ['a'] }], scope: {}, ttl: 3600 }
    const providers = worldOf(IdentityProvider, deployment.parts)
    await provide('lowered', { issuer: 'https://issuer.example.com' })
    const { name } = await made(lowered)
    await providers.change('lowered', (live) => ({ ...live, spec: { ...live.spec, maxTTL: 600 } }))
    await change(name, { ...lowered, claims: [{ claim: 'sub', values: ['b'] }] })
    expect(await refusedChange(name, { ...lowered, ttl: 3000 })).toContain('maximum of 600 seconds')
  })

  test('the scopes of the provider, of the maker and its own are at most 8', async () => {
    await provide('narrow', {
      issuer: 'https://issuer.example.com',
      scope: { clusters: [{ cluster: 'a' }] },
      ...shared,
    })
    const chain = Array.from({ length: 7 }, (_, index) => ({ ...usesProviders, projects: [{ project: `p${index}` }] }))
    const spec = { identityProvider: 'narrow', claims: [{ claim: 'sub', values: ['a'] }], scope: {} }
    expect(await refused(spec, scoped(alice, ...chain))).toBe('422 spec.scope: Too many: 9: must have at most 8 items')
  })

  test('people who are all administrators are a warning', async () => {
    const { warnings } = await made({ ...people, groups: ['system:masters'] })
    expect(warnings).toEqual(['spec.groups: exchanged keys are administrators'])
  })

  test('broad permissions and long lives are warnings', async () => {
    const { warnings } = await made({
      ...valid,
      groups: ['system:masters'],
      scope: { projects: [{ project: '*' }] },
      ttl: 14_401,
    })
    expect(warnings).toEqual([
      'spec.groups: exchanged keys are administrators within their scope',
      'spec.scope.projects: * allows every project',
      'spec.ttl: exchanged keys are valid for more than 4 hours',
    ])
  })

  test('count for the quota of keys, except for administrators', async () => {
    const limited = await startDeployment('https://keyplane.example.com', { MAX_KEYS_PER_OWNER: '1' })
    try {
      const providers = worldOf(IdentityProvider, limited.parts)
      await providers.create(providers.object({ name: 'any' }, { issuer: 'https://issuer.example.com', ...shared }))
      const { create, object } = worldOf(kind, limited.parts)
      const spec = { identityProvider: 'any', claims: [{ claim: 'sub', values: ['a'] }], scope: {} }
      await create(object({ name: 'one' }, spec), { context: contextOf(alice) })
      const status = await refusal(create(object({ name: 'two' }, spec), { context: contextOf(alice) }))
      expect([status.code, status.message]).toEqual([
        403,
        expect.stringContaining('exceeded quota: max-keys-per-owner'),
      ])
    } finally {
      await limited.stop()
    }
  })
})

describe('whose it is', () => {
  const carol = userNamed('carol', ['team:shop'])

  test('is the creator, or the named user, team or subject', async () => {
    const owner = async (spec: JsonObject, user: UserInfo) => {
      const { stored } = await made({ ...valid, ...spec }, user)
      return presentObject(world().store, stored, contextOf(user)).status?.owner
    }
    expect(await owner({}, alice)).toBe('alice')
    expect(await owner({ team: 'shop' }, carol)).toBe('team:shop')
    expect(await owner({ subject: 'robot' }, admin)).toBe('subject:robot')
  })

  test('is shown with the client_id, which names the uid', async () => {
    const { name, uid, stored } = await made()
    expect(presentObject(world().store, stored, contextOf(admin)).status).toEqual({
      owner: 'admin',
      phase: 'Active',
      clientID: `${name}@${uid}`,
    })
  })

  // threat: exchange-53
  test.each(cases.cannot as [string, JsonObject, string][])('cannot be %s', async (_, more, reason) =>
    expect(await refused({ ...valid, ...more }, alice)).toBe(reason),
  )

  test.each(cases.kept as [string, JsonObject][])('never changes: %s', async (member, more) => {
    const { name } = await made()
    expect(await refusedChange(name, { ...valid, ...more })).toBe(`422 spec.${member}: Forbidden: field is immutable`)
  })

  test('is the reason for which an administrator may use it, before the group', async () => {
    const reasonFor = async (user: UserInfo) =>
      accessTo(world().store, (await made(valid, user)).stored, 'get', '', contextOf(admin))
    const allowed = { type: 'allowed' }
    expect(await reasonFor(admin)).toMatchObject({ ...allowed, rule: 'own federated identity credential' })
    expect(await reasonFor(alice)).toMatchObject({ ...allowed, rule: expect.stringContaining('system:masters') })
  })

  test('decides who sees it', async () => {
    const { stored } = await made({ ...valid, team: 'shop' }, carol)
    const type = (user: UserInfo, verb: string) => accessTo(world().store, stored, verb, '', contextOf(user)).type
    for (const verb of ['get', 'update', 'delete']) {
      expect([verb, type(carol, verb), type(alice, verb), type(admin, verb)]).toEqual([
        verb,
        'allowed',
        'hidden',
        'allowed',
      ])
    }
    const listed = async (user: UserInfo) => {
      const { items } = await listObjects(world().store, {}, 'list', contextOf(user))
      return items.map((one) => one.read().object.metadata.name)
    }
    const { name = '' } = stored.object.metadata
    expect(await listed(carol)).toContain(name)
    expect(await listed(alice)).not.toContain(name)
  })
})

describe('a caller with an end', () => {
  const reason = (act: string, after = '') =>
    `403 the access key used expires at ${new Date(soon * 1000).toISOString().slice(0, 19)}Z and may not ${act} a federated identity credential, which could outlive it${after}`

  // threat: exchange-51
  test('makes none, with and without a scope', async () => {
    expect(await refused(valid, ending(alice))).toBe(reason('create'))
    expect(await refused(valid, ending(scoped(alice, shopMaker)))).toBe(reason('create'))
    expect(await refused(valid, ending(scoped(admin, shopMaker)))).toBe(reason('create'))
    await made(valid, ending(admin))
  })

  test('makes one in the first 15 minutes after a login', async () => {
    const login = (age: number, chain: Scope[] = []) =>
      scoped(
        {
          ...ending(alice, { type: 'Login' }),
          credential: { version: '1', hash: 'x', created: 0, signedIn: Math.floor(Date.now() / 1000) - age },
        },
        ...chain,
      )
    // The key of the context is no stored one: its write is refused, but not by this rule.
    expect(await refused(valid, login(60))).toMatch(/^401 /)
    expect(await refused(valid, login(901))).toBe(reason('create', '; sign in again'))
    expect(await refused(valid, login(60, [shopMaker]))).toBe(reason('create'))
  })

  // threat: exchange-51
  test('changes none, but may disable it', async () => {
    const { name } = await made(valid, alice)
    expect(await refusedChange(name, { ...valid, ttl: 60 }, ending(alice))).toBe(reason('change'))
    expect(await refusedChange(name, { ...valid, displayName: 'mine' }, ending(alice))).toBe(reason('change'))
    await change(name, { ...valid, disabled: true }, ending(alice))
    expect(await refusedChange(name, valid, ending(alice))).toBe(reason('change'))
  })
})

describe('a caller with a scope', () => {
  const other: Scope = { ...usesProviders, projects: [{ project: 'other' }] }

  test('passes its scopes on', async () => {
    const { stored } = await made(valid, scoped({ ...alice, key: { ...alice.key, uid: 'maker-uid' } }, other))
    expect(toTrust(stored)).toMatchObject({ carried: [other], creator: 'user:alice', makers: ['maker-uid'] })
  })

  // threat: exchange-53
  test('changes none that lacks its scopes, and keeps them below a new one', async () => {
    const { name } = await made(valid, alice)
    expect(await refusedChange(name, { ...valid, scope: {} }, scoped(alice, other))).toBe(
      '403 the access key used has a scope that this federated identity credential does not inherit',
    )
    const { stored } = await change(name, { ...valid, scope: { projects: [{ project: '*' }] } }, scoped(alice, shop))
    expect(toTrust(stored).carried).toEqual([shop])
    const dropped = await change(name, { ...(stored.object.spec as JsonObject), dropAddedScopes: true }, alice)
    expect(toTrust(dropped.stored).carried).toEqual([])
    const generation = stored.object.metadata.generation ?? 0
    expect(dropped.stored.object.metadata.generation).toBe(generation + 1)
  })

  test('does not extend the ttl', async () => {
    const { name } = await made({ ...valid, ttl: 600 }, alice)
    expect(await refusedChange(name, valid, scoped(alice, shop))).toBe(
      '403 an access key with a scope may not extend the lifetime of a federated identity credential',
    )
  })
})

describe('claim mappings', () => {
  const username = (more: object) => ({
    ...people,
    claimMappings: { username: { claim: 'sub', prefix: 'company:', ...more } },
  })
  const only = '403 spec.claimMappings: only system:masters without a scope may create or change them'

  // threat: exchange-56
  test('are for administrators without a scope', async () => {
    expect(await refused({ ...people, scope: {} }, alice)).toBe(only)
    expect(await refused(people, scoped(admin, shopMaker))).toBe(only)
    const scopedPeople = { ...people, scope: shop as JsonObject }
    const { name } = await made(scopedPeople)
    expect(await refusedChange(name, { ...scopedPeople, disabled: true }, scoped(admin, shop))).toBe(only)
  })

  // threat: exchange-56
  test.each(cases.unprocessable as [string, JsonObject, string][])('with %s are a 422', async (_, more, reason) =>
    expect(await refused(username(more))).toContain(reason),
  )

  // threat: exchange-56
  test('without a prefix are a 422', async () =>
    expect(await refused(username({ prefix: '' }))).toContain('spec.claimMappings.username.prefix'))

  test('of a reserved name are a 422', async () => {
    await provide('team', { issuer: 'https://issuer.example.com' })
    const spec = { ...username({ prefix: 'team:' }), identityProvider: 'team' }
    expect(await refused(spec)).toBe(
      `422 spec.claimMappings.username.prefix: Invalid value: "team:": may not begin with 'team:'`,
    )
  })

  // threat: exchange-56
  test('of the e-mail address in Azure are a 422', async () => {
    const claims = [{ claim: 'oid', values: ['1'] }]
    const spec = {
      identityProvider: 'entra',
      claims,
      claimMappings: { username: { claim: 'email', prefix: 'entra:' } },
    }
    expect(await refused(spec)).toContain(
      'spec.claimMappings.username.claim: Invalid value: "email": this issuer does not verify e-mail addresses: use oid or sub',
    )
  })

  test('to administrators are a 422', async () => {
    const groups = [{ claim: 'groups', value: 'admins', group: 'system:masters' }]
    expect(await refused({ ...people, claimMappings: { ...people.claimMappings, groups } })).toBe(
      `422 spec.claimMappings.groups[0].group: Invalid value: "system:masters": may not begin with 'system:'`,
    )
  })

  test('exclude a fixed user, and never change to another claim', async () => {
    expect(await refused({ ...people, user: 'alice' })).toBe(
      '422 spec.user: Forbidden: may not be set together with spec.claimMappings',
    )
    const { name } = await made(people)
    expect(await refusedChange(name, username({}))).toBe(
      '422 spec.claimMappings.username: Forbidden: field is immutable',
    )
    await change(name, {
      ...people,
      claimMappings: { ...people.claimMappings, groups: [{ claim: 'groups', value: 'a', group: 'team:a' }] },
    })
  })

  test('from what people can change are a warning', async () => {
    const { warnings } = await made(username({ claim: 'preferred_username', prefix: 'company:preferred_username:' }))
    expect(warnings).toEqual(['spec.claimMappings.username.claim: people can change preferred_username'])
  })
})

describe('the gate', () => {
  const gate = async (uid: string | undefined) =>
    (await getCompanion(deployment.parts.storage, { pk: `trust#${uid}`, sk: '#' }))?.attributes

  test('is written and deleted with the credential', async () => {
    const { name, uid } = await made()
    expect(await gate(uid)).toEqual({ revision: 0, disabled: false, deleted: false })
    await change(name, { ...valid, disabled: true })
    expect(await gate(uid)).toEqual({ revision: 0, disabled: true, deleted: false, ended: expect.any(Number) })
    await world().remove(name)
    expect(await gate(uid)).toBeUndefined()
  })

  test('closes as soon as a finalizer delays the removal', async () => {
    const name = fresh()
    await world().create(world().object({ name, finalizers: ['example.com/hold'] }, valid))
    const { uid } = (await world().read(name)).object.metadata
    await world().remove(name)
    expect(await gate(uid)).toMatchObject({ deleted: true })
  })

  test.each<[string, JsonObject, JsonObject, number]>([
    ['claims', valid, { claims: [claims[0]] as JsonObject[] }, 1],
    ['the scope', valid, { scope: {} }, 1],
    [
      'mapped groups',
      people,
      { claimMappings: { ...people.claimMappings, groups: [{ claim: 'a', value: 'b', group: 'c' }] } },
      1,
    ],
    ['texts', valid, { displayName: 'a' }, 0],
    ['the ttl', valid, { ttl: 60 }, 0],
  ])('after a change of %s has the right revision', async (_, spec, more, revision) => {
    const { name, uid } = await made(spec)
    await change(name, { ...spec, ...more })
    expect(await gate(uid)).toMatchObject({ revision })
  })
})

// threat: exchange-9
test('claims that a later release refuses block no other change', async () => {
  const { name } = await made({ identityProvider: 'company', claims: [{ claim: 'sub', values: ['a'] }], scope: {} })
  const old = { identityProvider: 'company', claims: [{ claim: 'locale', values: ['en'] }], scope: {} }
  await deployment.parts.storage.update(
    kind.table,
    name,
    (live) => {
      if (!live) throw new Error('no trust')
      return { type: 'put', object: { ...live.object, spec: old }, internal: live.internal }
    },
    { deadline: endless },
  )
  await change(name, { ...old, ttl: 600 })
  expect(await refusedChange(name, { ...old, claims: [{ claim: 'locale', values: ['de'] }] })).toBe(
    '422 spec.claims: Required value: must bind at least one claim that identifies the workload',
  )
})
