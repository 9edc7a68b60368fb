/** Tests IdentityProvider: the contract of stored kinds, then its rules, who may use it, and its gate. */
import { generateKeyPairSync } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Scope } from '../../lib/access/scopes/scope.ts'
import type { JsonObject, JsonValue } from '../../lib/engine/meta/types.ts'
import { listObjects } from '../../lib/engine/registry/read.ts'
import { accessTo, accessToCreate, presentObject } from '../../lib/engine/registry/store.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { FederatedIdentityCredential } from '../../lib/federation/federatedidentitycredential.ts'
import { IdentityProvider } from '../../lib/federation/identityprovider.ts'
import { createServer } from '../../lib/server/server.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, alice, bob, contextOf, userNamed, withScopes } from '../support/users.ts'
import { describeKind, type KindWorld, refusal, worldOf } from './contract.ts'
import cases from './vectors/identityprovider.cases.json' with { type: 'json' }

const own = 'https://keyplane.example.com/prod/kubernetes/management'
let deployment: TestDeployment
beforeAll(async () => {
  deployment = await startDeployment(own)
})
afterAll(() => deployment?.stop())

const kind = IdentityProvider
const issuer = 'https://issuer.example.com'
const github = {
  issuer: 'https://token.actions.githubusercontent.com',
  claims: [{ claim: 'repository_owner_id', values: ['1'] }],
}

describeKind(kind, () => deployment.parts, {
  valid: { displayName: 'Issuer', issuer },
  invalid: [
    { spec: { issuer, maxTTL: 59 }, fields: ['spec.maxTTL'] },
    { spec: { issuer, algorithms: ['HS256'] }, fields: ['spec.algorithms[0]'] },
    { spec: { issuer, access: [{ verbs: ['get'] }] }, fields: ['spec.access[0].verbs[0]'] },
    { spec: { issuer, claims: [{ claim: 'a' }] }, fields: ['spec.claims[0]'] },
  ],
  updates: [
    { displayName: 'Other', issuer },
    { issuer, access: [{ verbs: ['use'], teams: ['*'] }], maxTTL: 600, disabled: true },
    { issuer, audience: `${own}/clusters/west`, algorithms: ['EdDSA'], tokenUse: 'Lifetime', maxTokenAge: 600 },
  ],
})

let count = 0
const fresh = () => `provider-${++count}`

async function made(spec: JsonObject, context = contextOf(admin)) {
  const world = worldOf(kind, deployment.parts)
  const name = fresh()
  await world.create(world.object({ name }, spec), { context })
  return { world, name, stored: await world.read(name) }
}

/** Returns the message of the 422, without the name of the object. */
async function refused(spec: JsonObject): Promise<string> {
  const world = worldOf(kind, deployment.parts)
  const name = fresh()
  const { code, message = '' } = await refusal(world.create(world.object({ name }, spec)))
  expect((await refusal(world.read(name))).code).toBe(404)
  return `${code} ${message.replace(`IdentityProvider.management.platform "${name}" is invalid: `, '')}`
}

async function refusedChange(name: string, spec: JsonObject): Promise<string> {
  const world = worldOf(kind, deployment.parts)
  const { code, message = '' } = await refusal(world.change(name, (live) => ({ ...live, spec })))
  return `${code} ${message.replace(`IdentityProvider.management.platform "${name}" is invalid: `, '')}`
}

/** Returns the warnings of a create. */
async function warnings(spec: JsonObject): Promise<string[]> {
  const context = contextOf(admin)
  await made(spec, context)
  return context.warnings
}

const notDns = 'must have a DNS name as its host, not an IP address'
const notPublic = 'must have a public host name: set spec.jwks, or the setting allow-private-issuers of the deployment'
const ours = 'may not be at or below the URL of this API'
const extras = 'Forbidden: may not have a user, a query or a fragment'

describe('the issuer', () => {
  test.each([
    ['http://issuer.example.com', 'must be an https URL'],
    ['https://127.0.0.1', notDns],
    ['https://127.1', notDns],
    ['https://2130706433', notDns],
    ['https://0x7f.1', notDns],
    ['https://0177.0.0.1', notDns],
    ['https://169.254.169.254', notDns],
    ['https://[::1]', notDns],
    ['https://[::ffff:a9fe:a9fe]', notDns],
    ['https://localhost', notPublic],
    ['https://api.localhost', notPublic],
    ['https://issuer.local', notPublic],
    ['https://metadata.google.internal', notPublic],
    ['https://oidc.platform.svc', notPublic],
    ['https://kubernetes', notPublic],
    ['https://issuer.example.com.', notDns],
    ['https://under_score.example.com', notDns],
    ['https://Issuer.example.com', 'must be in its normal form: https://issuer.example.com/'],
    ['https://issuer.example.com:443', 'must be in its normal form: https://issuer.example.com/'],
    ['https://issuer.example.com/a/../b', 'must be in its normal form: https://issuer.example.com/b'],
    ['https://issuer.example.com:8443', 'may not have a port, unless spec.jwks is set'],
    [own, ours],
    [`${own}/`, ours],
    [`${own}/clusters/west`, ours],
    ['https://login.microsoftonline.com/common/v2.0', 'does not name a tenant: name yours'],
    ['https://login.microsoftonline.com/organizations/v2.0', 'does not name a tenant: name yours'],
  ])('%s is a 422', async (text, reason) =>
    expect(await refused({ issuer: text, claims: [{ claim: 'sub', values: ['a'] }] })).toBe(
      `422 spec.issuer: Invalid value: "${text}": ${reason}`,
    ),
  )

  test.each(['https://me:secret@issuer.example.com', 'https://issuer.example.com?a=b', 'https://issuer.example.com#a'])(
    '%s is a 422 that does not repeat it',
    async (text) => expect(await refused({ issuer: text })).toBe(`422 spec.issuer: ${extras}`),
  )

  test('that is longer than 512 bytes is a 422', async () =>
    expect(await refused({ issuer: `https://issuer.example.com/${'a'.repeat(500)}` })).toBe(
      '422 spec.issuer: Too long: may not be more than 512 bytes',
    ))

  test.each(['https://issuer.example.com', 'https://issuer.example.com/', 'https://issuer.example.com/realms/one'])(
    '%s is stored as it is',
    async (text) => expect((await made({ issuer: text })).stored.object.spec?.issuer).toBe(text),
  )

  test('may have a private name and a port when its keys are pinned', async () => {
    const jwks = JSON.stringify({ keys: [publicKey()] })
    for (const text of ['https://kubernetes.default.svc.cluster.local', 'https://keycloak:8443', 'https://localhost']) {
      await made({ issuer: text, jwks, type: text.includes('kubernetes.') ? 'Kubernetes' : 'OIDC' })
    }
  })

  test('may have a private name, but no port and no address, with allow-private-issuers', async () => {
    const other = await startDeployment(own, { ALLOW_PRIVATE_ISSUERS: 'true' })
    try {
      const world = worldOf(kind, other.parts)
      await world.create(world.object({ name: 'private' }, { issuer: 'https://gitlab.corp.internal' }))
      // Without the setting again, it can only be disabled.
      const { ALLOW_PRIVATE_ISSUERS: _, ...environment } = other.environment
      const strict = worldOf(kind, createServer(environment))
      const spec = { issuer: 'https://gitlab.corp.internal' }
      const changed = strict.change('private', (live) => ({ ...live, spec: { ...spec, maxTTL: 60 } }))
      expect((await refusal(changed)).message).toContain(notPublic)
      await strict.change('private', (live) => ({ ...live, spec: { ...spec, disabled: true } }))
      for (const text of ['https://gitlab.corp.internal:8443', 'https://10.0.0.1']) {
        expect((await refusal(world.create(world.object({ name: fresh() }, { issuer: text })))).code).toBe(422)
      }
    } finally {
      await other.stop()
    }
  })

  test('never changes', async () => {
    const { name } = await made({ issuer })
    expect(await refusedChange(name, { issuer: `${issuer}/` })).toBe(
      `422 spec.issuer: Invalid value: "${issuer}/": field is immutable`,
    )
  })
})

describe('the type', () => {
  test('of a known issuer is its own', async () => {
    expect(await refused({ ...github, type: 'OIDC' })).toBe(
      '422 spec.type: Invalid value: "OIDC": must be GitHub for this issuer',
    )
    const { world, stored } = await made(github)
    expect(presentObject(world.store, stored, contextOf(admin)).status).toMatchObject({ type: 'GitHub' })
  })

  test('never changes, but may be written out', async () => {
    const { world, name } = await made({ issuer })
    await world.change(name, (live) => ({ ...live, spec: { issuer, type: 'OIDC' } }))
    expect(await refusedChange(name, { issuer, type: 'GitLab' })).toBe(
      '422 spec.type: Invalid value: "GitLab": field is immutable',
    )
  })
})

describe('the type of a cluster', () => {
  const aks =
    'https://eastus.oic.prod-aks.azure.com/aaaabbbb-0000-cccc-1111-dddd2222eeee/00001111-aaaa-2222-bbbb-3333cccc4444/'

  test('is recognized by its issuer, and its tokens are used until they expire', async () => {
    const { world, stored } = await made({ issuer: aks })
    const status = { type: 'Kubernetes', tokenUse: 'Lifetime' }
    expect(presentObject(world.store, stored, contextOf(admin)).status).toMatchObject(status)
    expect(await refused({ issuer: aks, type: 'OIDC' })).toContain('must be Kubernetes for this issuer')
  })

  // threat: exchange-12
  test('may be set later, which ends the keys of earlier exchanges, and never changes again', async () => {
    const { world, name, stored } = await made({ issuer })
    await world.change(name, (live) => ({ ...live, spec: { issuer, type: 'Kubernetes' } }))
    const gate = await getCompanion(deployment.parts.storage, { pk: `provider#${stored.object.metadata.uid}`, sk: '#' })
    expect(gate?.attributes).toMatchObject({ revision: 1 })
    for (const spec of [{ issuer, type: 'OIDC' }, { issuer }, { issuer, type: 'Azure' }]) {
      expect(await refusedChange(name, spec)).toContain('field is immutable')
    }
    const gitlab = await made({ issuer, type: 'GitLab' })
    expect(await refusedChange(gitlab.name, { issuer, type: 'Kubernetes' })).toContain('field is immutable')
  })
})

describe('the claims of a shared issuer', () => {
  test('must name the organization', async () =>
    expect(await refused({ issuer: github.issuer })).toBe(
      '422 spec.claims: Required value: https://token.actions.githubusercontent.com signs for everyone: bind one of repository_owner_id, enterprise_id to exact values',
    ))
})

describe('the audience', () => {
  test.each(cases.audiences)('%s of another service is a 422', async (audience) =>
    expect(await refused({ issuer, audience })).toBe(
      `422 spec.audience: Invalid value: "${audience}": is the audience of another service, whose tokens would be accepted here`,
    ),
  )

  test('is the issuer of this API by default', async () => {
    const { world, stored } = await made({ issuer })
    expect(stored.object.spec).toEqual({ issuer })
    expect(presentObject(world.store, stored, contextOf(admin)).status).toEqual({
      audience: own,
      type: 'OIDC',
      tokenUse: 'Once',
      phase: 'Active',
    })
  })

  test('elsewhere is a warning', async () => {
    expect(await warnings({ issuer, audience: 'console' })).toEqual([
      'spec.audience: tokens for this audience could be meant for another service',
    ])
    expect(await warnings({ issuer, audience: `${own}/ci` })).toEqual([])
  })
})

describe('access', () => {
  const entry = (users: string[], teams: string[] = []) => ({ verbs: ['use'], users, teams })
  const change = async (world: KindWorld, name: string, spec: object, user = admin) => {
    const context = contextOf(user)
    await world.change(name, (live) => ({ ...live, spec: { ...live.spec, ...spec } }), { context })
    return context.warnings
  }
  const left = (names: string) =>
    `spec.access: ${names} of owners without access may keep issuing access keys: disable those that must not`

  // threat: exchange-52
  test('that somebody loses is a warning with the open trusts of that owner', async () => {
    const { world, name } = await made({ issuer, access: [entry(['ann', 'ben'], ['shop'])] })
    const trusts = worldOf(FederatedIdentityCredential, deployment.parts)
    const spec = { identityProvider: name, claims: [{ claim: 'sub', values: ['a'] }], scope: {} }
    const owned = {
      ann: { user: 'ann' },
      off: { user: 'ann', disabled: true },
      ben: { user: 'ben' },
      shop: { team: 'shop' },
    }
    for (const [one, owner] of Object.entries(owned)) {
      await trusts.create(trusts.object({ name: `${name}-${one}` }, { ...spec, ...owner }))
    }
    const lost = (...names: string[]) => names.map((one) => `${name}-${one}`).join(', ')
    expect(await change(world, name, { displayName: 'a', access: [entry(['ben', 'ann'], ['shop', 'b'])] })).toEqual([])
    expect(await change(world, name, { access: [entry(['ben'], ['shop'])] })).toEqual([
      left(`1 federated identity credential (${lost('ann')})`),
    ])
    // Nobody knows whether ann was in the team.
    expect(await change(world, name, { access: [entry(['ben'])] })).toEqual([
      left(`2 federated identity credentials (${lost('ann', 'shop')})`),
    ])
    expect(await change(world, name, { access: [entry([], ['*'])] })).toEqual([])
    const blind = withScopes(admin, {
      rules: [{ resources: [{ group: 'management.platform', resources: ['identityproviders'] }] }],
    })
    expect(await change(world, name, { scope: blind.chain[0] })).toEqual([])
    expect(await change(world, name, { access: [] }, blind)).toEqual([])
    await change(world, name, { access: [entry([], ['*'])] })
    expect(await change(world, name, { access: [] })).toEqual([
      left(`3 federated identity credentials (${lost('ann', 'ben', 'shop')})`),
    ])
  })
})

const pair = generateKeyPairSync('rsa', { modulusLength: 2048 })
const shortPair = generateKeyPairSync('rsa', { modulusLength: 1024 })
const publicKey = (kid = 'a', { publicKey: key } = pair) =>
  ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' }) as JsonObject

describe('pinned keys', () => {
  const usable =
    'must be usable for signatures with RS256, ES256; RSA keys have 2048 to 8192 bits, and an exponent of at most 8 bytes'

  // threat: gateway-10, exchange-22
  test.each([
    { what: 'no JSON', jwks: '{', reason: 'must be valid JSON' },
    { what: 'no key set', jwks: '[]', reason: 'must be a JSON object with a list of keys' },
    { what: 'no keys', jwks: '{"keys":[]}', reason: 'must have a key for signatures' },
    {
      what: 'only a key for encryption',
      jwks: JSON.stringify({ keys: [{ ...publicKey(), use: 'enc' }] }),
      reason: 'must have a key for signatures',
    },
    {
      what: 'two keys of one id',
      jwks: JSON.stringify({ keys: [publicKey('a'), publicKey('a')] }),
      reason: 'every key must have its own kid',
    },
    {
      what: 'only a short key',
      jwks: JSON.stringify({ keys: [publicKey('a', shortPair)] }),
      reason: `keys[0] (kid "a") ${usable}`,
    },
    {
      what: 'an unusable key whose kid may be a secret',
      jwks: JSON.stringify({ keys: [publicKey('x'.repeat(65), shortPair)] }),
      reason: `keys[0] ${usable}`,
    },
    { what: 'nothing but null', jwks: '{"keys":[null]}', reason: `keys[0] ${usable}` },
    ...[
      { backup: [{ deep: { d: 'AQ' } }] },
      { d: 'AQ' },
      { pem: '-----BEGIN RSA PRIVATE KEY-----' },
      { keys: [{ ...publicKey(), note: ['-----BEGIN PRIVATE KEY-----'] }] },
      { keys: [publicKey(), [{ k: 'AQ' }]] },
    ].map((set) => ({
      what: `a private key in ${JSON.stringify(Object.keys(set))}`,
      jwks: JSON.stringify({ keys: [publicKey()], ...set }),
      reason: 'contains a private or symmetric key: publish only public keys, and replace this one',
    })),
  ])('with $what are a 422', async ({ jwks, reason }) =>
    expect(await refused({ issuer, jwks })).toBe(`422 spec.jwks: Forbidden: ${reason}`),
  )

  // threat: exchange-23
  test('that no algorithm of the provider can use are a 422', async () => {
    const jwks = JSON.stringify({ keys: [publicKey()] })
    expect(await refused({ issuer, jwks, algorithms: ['EdDSA'] })).toContain('keys[0] (kid "a") must be usable')
  })

  // threat: exchange-23
  test.each<[string, JsonValue[], string]>([
    ['a short key', [publicKey('b', shortPair)], 'keys[1] (kid "b") is'],
    ['a key of another algorithm', [{ kty: 'OKP', crv: 'Ed25519', x: 'AA', kid: 'b' }], 'keys[1] (kid "b") is'],
    ['a key whose kid may be a secret', [publicKey('x'.repeat(65), shortPair)], 'keys[1] is'],
    ['what is no key', [null, 0, '', [], [publicKey()]], 'keys[1], keys[2], keys[3], 2 more are'],
  ])('may have %s besides a usable one, which is skipped with a warning', async (_, others, subject) => {
    const rule = usable.replace('must be', 'not')
    expect(await warnings({ issuer, jwks: JSON.stringify({ keys: [publicKey(), ...others] }) })).toEqual([
      `spec.jwks: ${subject} skipped: ${rule}`,
    ])
  })

  test('may have members that no reader knows', async () => {
    const keys = [{ ...publicKey(), nbf: 1, ext: true, meta: { a: [null] } }]
    expect(await warnings({ issuer, jwks: JSON.stringify({ keys }) })).toEqual([])
    expect(await warnings({ issuer, jwks: JSON.stringify({ keys, updated: 5, next: {} }) })).toEqual([
      'spec.jwks: members other than keys are ignored',
    ])
  })

  test('may have others that are not for signatures, as Keycloak publishes them', async () => {
    const others = [{ use: 'enc', alg: 'RSA-OAEP' }, { key_ops: ['wrapKey'], use: undefined }, { alg: 'RSA-OAEP' }]
    const keys = others.map((members, index) => ({ ...publicKey(`other-${index}`), x5c: ['MII'], ...members }))
    await made({ issuer, jwks: JSON.stringify({ keys: [...keys, publicKey()] }) })
  })

  // The object, its managedFields and the annotation of kubectl apply would keep the key for every reader.
  // threat: exchange-22
  test('that are private are a 422, which neither repeats nor stores them', async () => {
    const secret = { ...pair.privateKey.export({ format: 'jwk' }), kid: 'a' }
    const jwks = JSON.stringify({ keys: [secret] })
    const { world, name } = await made({ issuer })
    const before = await world.read(name)
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify({ spec: { jwks } }) }
    const status = await refusal(
      world.change(name, (live) => ({ ...live, metadata: { ...live.metadata, annotations }, spec: { issuer, jwks } })),
    )
    expect(status.message).toContain('spec.jwks: Forbidden: contains a private or symmetric key')
    expect(JSON.stringify(status)).not.toContain(String(secret.d).slice(0, 20))
    expect(await world.read(name)).toEqual(before)
    expect(await refused({ issuer, jwks })).not.toContain(String(secret.d).slice(0, 20))
    expect(await refused({ issuer, jwks: { keys: [secret] } as never })).not.toContain(String(secret.d).slice(0, 20))
  })

  test('exclude the URL of keys, which has the rules of the issuer', async () => {
    const jwks = JSON.stringify({ keys: [publicKey()] })
    expect(await refused({ issuer, jwks, jwksURI: 'https://issuer.example.com/keys' })).toBe(
      '422 spec.jwksURI: Forbidden: may not be set together with spec.jwks',
    )
    expect(await refused({ issuer, jwksURI: 'https://169.254.169.254/keys' })).toContain(notDns)
    expect(await refused({ issuer, jwksURI: 'https://localhost/keys' })).toContain(notPublic)
    expect(await refused({ issuer, jwksURI: `${own}/openid/v1/jwks` })).toContain(ours)
    await made({ issuer, jwksURI: 'https://keys.example.com/jwks?tenant=a' })
  })
})

describe('other fields', () => {
  test('maxTTL is at most the setting', async () =>
    expect(await refused({ issuer, maxTTL: 43_201 })).toBe(
      '422 spec.maxTTL: Invalid value: 43201: must not be more than the maximum of 43200 seconds',
    ))

  test('a maxTTL above a setting that was lowered later may stay', async () => {
    const { name } = await made({ issuer, maxTTL: 3600 })
    const lowered = worldOf(kind, createServer({ ...deployment.environment, MAX_EXCHANGE_TTL_SECONDS: '600' }))
    await lowered.change(name, (live) => ({ ...live, spec: { issuer, maxTTL: 3600, displayName: 'Issuer' } }))
    const raised = lowered.change(name, (live) => ({ ...live, spec: { issuer, maxTTL: 3000 } }))
    expect((await refusal(raised)).message).toContain('must not be more than the maximum of 600 seconds')
  })

  test('algorithms occur once', async () =>
    expect(await refused({ issuer, algorithms: ['RS256', 'RS256'] })).toBe(
      '422 spec.algorithms[1]: Duplicate value: "RS256"',
    ))

  test('a scope is valid', async () =>
    expect(await refused({ issuer, scope: { projects: [{}] } })).toContain('spec.scope.projects[0].project'))

  test('tokens of CI jobs that can be used again are a warning', async () =>
    expect(await warnings({ ...github, tokenUse: 'Lifetime' })).toEqual([
      'spec.tokenUse: jobs of GitHub get a new ID token for each exchange; with Lifetime a stolen one can be used again',
    ]))
})

describe('access', () => {
  const carol = userNamed('carol', ['team:shop'])
  const may = async (spec: JsonObject, user: typeof alice, verb: string, subresource = '') => {
    const { world, stored } = await made({ issuer, ...spec })
    return accessTo(world.store, stored, verb, subresource, contextOf(user))
  }
  const use = (more: object) => ({ access: [{ verbs: ['use'], ...more }] }) as unknown as JsonObject

  test.each([
    { who: 'a named user', spec: use({ users: ['alice'] }), user: alice, type: 'allowed' },
    { who: 'a stranger', spec: use({ users: ['alice'] }), user: bob, type: 'hidden' },
    { who: 'a member of a named team', spec: use({ teams: ['shop'] }), user: carol, type: 'allowed' },
    { who: 'everybody, by *', spec: use({ teams: ['*'] }), user: bob, type: 'allowed' },
    { who: 'a user named *', spec: use({ users: ['*'] }), user: bob, type: 'hidden' },
    { who: 'a user, without a rule', spec: {}, user: alice, type: 'hidden' },
    { who: 'an administrator, without a rule', spec: {}, user: admin, type: 'allowed' },
  ])('get by $who is $type', async ({ spec, user, type }) => expect((await may(spec, user, 'get')).type).toBe(type))

  test('use can be asked for in an access review', async () =>
    expect(await may(use({ teams: ['*'] }), bob, 'use')).toEqual({ type: 'allowed', rule: 'spec.access[0]' }))

  // threat: exchange-54
  test.each(['update', 'patch', 'delete', 'deletecollection'])('%s is for administrators only', async (verb) => {
    expect(await may(use({ teams: ['*'] }), alice, verb)).toEqual({
      type: 'denied',
      reason: 'only system:masters may change identity providers',
    })
    expect((await may({}, admin, verb)).type).toBe('allowed')
  })

  // threat: exchange-54
  test('create is for administrators only', () => {
    const { store } = worldOf(kind, deployment.parts)
    expect(accessToCreate(store, contextOf(alice))).toEqual({
      type: 'denied',
      reason: 'only system:masters may create identity providers',
    })
  })

  // Keys that come out have the scope of the provider, but not that of whoever chose the keys of the provider.
  // threat: exchange-55
  test('with a scope is limited to providers of this scope, and to disabling', async () => {
    const scope: Scope = { rules: [{ resources: [{ group: 'management.platform' }] }] }
    const context = contextOf(withScopes(admin, scope))
    const reason = 'spec.scope: an access key with a scope may write only providers that have this scope'
    const { world, name } = await made({ issuer })
    const limited = { issuer, scope: scope as JsonObject }
    const status = await refusal(world.create(world.object({ name: fresh() }, { issuer }), { context }))
    expect([status.code, status.message]).toEqual([403, expect.stringContaining(reason)])
    for (const spec of [{ issuer, audience: own }, limited]) {
      const { message } = await refusal(world.change(name, (live) => ({ ...live, spec }), { context }))
      expect(message).toContain(reason)
    }
    await world.change(name, (live) => ({ ...live, spec: { issuer, disabled: true } }), { context })
    const other = fresh()
    await world.create(world.object({ name: other }, limited), { context })
    await world.change(other, (live) => ({ ...live, spec: { ...limited, maxTTL: 600 } }), { context })
    const wider = world.change(other, (live) => ({ ...live, spec: { issuer } }), { context })
    expect((await refusal(wider)).message).toContain(reason)
  })

  test('lists show what the user may use', async () => {
    const label = { access: 'listed' }
    const world = worldOf(kind, deployment.parts)
    for (const [name, spec] of Object.entries({
      'l-alice': use({ users: ['alice'] }),
      'l-all': use({ teams: ['*'] }),
      'l-shop': use({ teams: ['shop'] }),
      'l-none': {},
    })) {
      await world.create(world.object({ name, labels: label }, { issuer, ...spec }))
    }
    const listed = async (user: typeof alice) => {
      const matches = ({ object }: { object: { metadata: { labels?: object } } }) =>
        object.metadata.labels !== undefined && 'access' in object.metadata.labels
      const { items } = await listObjects(world.store, { matches }, 'list', contextOf(user))
      return items.map((one) => one.read().object.metadata.name)
    }
    expect(await listed(alice)).toEqual(['l-alice', 'l-all'])
    expect(await listed(carol)).toEqual(['l-all', 'l-shop'])
    expect(await listed(admin)).toEqual(['l-alice', 'l-all', 'l-none', 'l-shop'])
  })
})

describe('the gate', () => {
  const gate = async (uid: string | undefined) =>
    (await getCompanion(deployment.parts.storage, { pk: `provider#${uid}`, sk: '#' }))?.attributes
  const [one, two] = [publicKey('one'), publicKey('two')]
  const keySet = (...keys: JsonObject[]) => JSON.stringify({ keys })

  test('is written and deleted with the provider', async () => {
    const { world, name, stored } = await made({ issuer })
    const { uid } = stored.object.metadata
    expect(await gate(uid)).toEqual({ revision: 0, disabled: false, deleted: false })
    await world.change(name, (live) => ({ ...live, spec: { issuer, disabled: true } }))
    expect(await gate(uid)).toEqual({ revision: 0, disabled: true, deleted: false, ended: expect.any(Number) })
    await world.remove(name)
    expect(await gate(uid)).toBeUndefined()
  })

  test('closes as soon as a finalizer delays the removal', async () => {
    const world = worldOf(kind, deployment.parts, { issuer })
    const name = fresh()
    await world.create(world.object({ name, finalizers: ['example.com/hold'] }))
    const { uid } = (await world.read(name)).object.metadata
    await world.remove(name)
    expect(await gate(uid)).toEqual({ revision: 0, disabled: false, deleted: true, ended: expect.any(Number) })
    const held = await world.read(name)
    expect(presentObject(world.store, held, contextOf(admin)).status).toMatchObject({ phase: 'Terminating' })
  })

  test.each<[string, JsonObject]>([
    ['audience', { audience: `${own}/ci` }],
    ['the URL of keys', { jwksURI: 'https://issuer.example.com/other' }],
    ['algorithms', { algorithms: ['RS256'] }],
    ['the scope', { scope: {} }],
    ['claims', { claims: [{ claim: 'sub', values: ['a'] }] }],
    ['the maximum age', { maxTokenAge: 60 }],
    ['the maximum ttl', { maxTTL: 60 }],
    ['the source of keys', { jwks: keySet(one) }],
  ])('gets another revision when %s change', async (_, change) => {
    const { world, name, stored } = await made({ issuer })
    await world.change(name, (live) => ({ ...live, spec: { issuer, ...change } }))
    expect(await gate(stored.object.metadata.uid)).toMatchObject({ revision: 1 })
  })

  test.each<[string, JsonObject]>([
    ['texts', { displayName: 'a', description: 'b' }],
    ['access', { access: [{ verbs: ['use'], teams: ['*'] }] }],
    ['the use of tokens', { tokenUse: 'Lifetime' }],
  ])('keeps its revision when %s change', async (_, change) => {
    const { world, name, stored } = await made({ issuer })
    await world.change(name, (live) => ({ ...live, spec: { issuer, ...change } }))
    expect(await gate(stored.object.metadata.uid)).toMatchObject({ revision: 0 })
  })

  test('gets another revision when a pinned key is removed, but not when one is added', async () => {
    const { world, name, stored } = await made({ issuer, jwks: keySet(one) })
    const { uid } = stored.object.metadata
    await world.change(name, (live) => ({ ...live, spec: { issuer, jwks: keySet(two, one) } }))
    expect(await gate(uid)).toMatchObject({ revision: 0 })
    await world.change(name, (live) => ({ ...live, spec: { issuer, jwks: keySet(two) } }))
    expect(await gate(uid)).toMatchObject({ revision: 1 })
  })
})
