/** Runs every function with its role in the packaged template: the role allows all of its calls. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GetItemCommand, ScanCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { sampleEvent } from '../../events/sample.ts'
import { functionNames } from '../../infra/build.ts'
import { makeAuthority, validFor } from '../../infra/local/host/certificates.ts'
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { marshalKey } from '../../lib/engine/storage/dynamodb/expressions.ts'
import { rowsOf } from '../../lib/engine/storage/keys.ts'
import { getCompanion } from '../../lib/engine/storage/readcompanions.ts'
import { encodeKeyItem } from '../../lib/federation/issuerkeys.ts'
import { parseKeySet } from '../../lib/federation/jwks.ts'
import { boundItem, boundKey, placeItem } from '../../lib/keys/credential/boundsecrets.ts'
import { encodeToken } from '../support/accountcluster.ts'
import { endless, unhurried } from '../support/deadlines.ts'
import { createExchangedKey, newFederation, openGates } from '../support/exchangedkeys.ts'
import { exchangeForm } from '../support/federation.ts'
import { startIssuer } from '../support/issuer.ts'
import { defaultTemplate, readPackagedTemplate } from '../support/packagedtemplate.ts'
import { patience } from '../support/patience.ts'
import { type RoleDeployment, startWithRoles } from './roleenforcement.ts'
import { metricId, readTemplateMetrics } from './templatemetrics.ts'

const root = join(import.meta.dirname, '../..')
const kinds = [
  'ownedaccesskeys',
  'federatedidentitycredentials',
  'identityproviders',
  'virtualclusterinstances',
  'clusters',
]
let at: RoleDeployment
let admin: string
const keys = '/apis/management.platform/v1/ownedaccesskeys'
const instances = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances'
const providers = '/apis/management.platform/v1/identityproviders'
const clusters = '/apis/management.platform/v1/clusters'
const trusts = '/apis/management.platform/v1/federatedidentitycredentials'

const toWest = { spec: { scope: { clusters: [{ cluster: 'west' }] } } }

beforeAll(async () => {
  at = await startWithRoles()
  await at.invoke('bootstrap', {})
  admin = await at.secret('AccessKey')
})
afterEach(() => expect(at.calls.filter(({ allowed }) => !allowed)).toEqual([]))
afterAll(() => at?.stop())

const object = (kind: string, name: string, spec: object, metadata: object) => {
  return { apiVersion: 'management.platform/v1', kind, metadata: { name, ...metadata }, spec }
}
const key = (name: string, spec: object = {}, metadata: object = {}) => object('OwnedAccessKey', name, spec, metadata)
const instance = (name: string, spec: object = {}, metadata: object = {}) =>
  object('VirtualClusterInstance', name, spec, { namespace: 'p-demo', ...metadata })
const provider = (name: string, spec: object = {}, metadata: object = {}) => {
  const usable = { issuer: 'https://issuer.example.com', access: [{ verbs: ['use'], teams: ['*'] }] }
  return object('IdentityProvider', name, { ...usable, ...spec }, metadata)
}
const trust = (name: string, spec: object = {}, metadata: object = {}) => {
  const narrow = { identityProvider: 'issuer', claims: [{ claim: 'sub', values: ['job'] }], scope: {} }
  return object('FederatedIdentityCredential', name, { ...narrow, ...spec }, metadata)
}
const cluster = (name: string, spec: object = {}, metadata: object = {}) =>
  object('Cluster', name, { server: 'https://eu.example.com', ...spec }, metadata)
/** The path of a collection, and an object for it. */
const examples: Record<string, [path: string, object: (name: string) => object]> = {
  ownedaccesskeys: [keys, (name) => key(name)],
  federatedidentitycredentials: [trusts, (name) => trust(name)],
  identityproviders: [providers, (name) => provider(name)],
  virtualclusterinstances: [instances, (name) => instance(name)],
  clusters: [clusters, (name) => cluster(name)],
}
const revision = (kind: string, UpdateExpression: string, value: number, attribute = 'at') =>
  at.store.dynamodb.client.send(
    new UpdateItemCommand({
      TableName: at.store.dynamodb.table,
      Key: { pk: { S: kind }, sk: { S: '#revision' } },
      UpdateExpression,
      ExpressionAttributeNames: { '#one': attribute },
      ExpressionAttributeValues: { ':value': { N: String(value) } },
    }),
  )
const create = async (path: string, body: object, token = admin) => at.request('POST', path, token, body)
const get = (path: string, token = admin) => at.request('GET', path, token)
const put = (path: string, body: object, token = admin) => at.request('PUT', path, token, body)
const patch = (path: string, body: object, token = admin) =>
  at.request('PATCH', path, token, body, 'application/merge-patch+json')
const remove = (path: string, token = admin) => at.request('DELETE', path, token)
const owner = ({ kind, metadata: { name, uid } }: { kind: string; metadata: { name: string; uid: string } }) => {
  const owned = { apiVersion: 'management.platform/v1', kind, name, uid, blockOwnerDeletion: true }
  return { ownerReferences: [owned] }
}

test('access keys', async () => {
  const alice = await create(keys, key('alice', { user: 'alice', ttl: 3600 }))
  const token: string = alice.spec.key
  await create(
    keys,
    key('bob', { key: 'b'.repeat(40), ttl: 1800, identity: { connectorData: 'x' } }, owner(alice)),
    token,
  )
  await at.invoke('lifecycle', {})
  for (const path of [
    `${keys}/alice`,
    `${keys}/alice/status`,
    `${keys}/alice/usage`,
    `${keys}/alice/history`,
    keys,
    `${keys}?limit=1`,
    `${keys}?fieldSelector=status.owner=alice&namePrefix=a`,
    `${keys}?fieldSelector=status.madeWith.name=alice`,
    `${keys}?watch=1&timeoutSeconds=1`,
  ]) {
    await get(path, token)
    await get(path)
  }
  await expect(get(`${keys}/alice?resourceVersion=99999999`, token)).rejects.toThrow(': 504 ')
  const bob = await get(`${keys}/bob`, token)
  await put(`${keys}/bob`, { ...bob, spec: { ...bob.spec, key: 'c'.repeat(40) } }, token)
  await patch(`${keys}/bob`, { spec: { identity: { connectorData: 'y' } } }, token)
  await patch(`${keys}/bob/status`, { status: {} })
  await at.request(
    'PATCH',
    `${keys}/carol?fieldManager=test`,
    admin,
    key('carol', { user: 'carol' }),
    'application/apply-patch+yaml',
  )
  // Only a dry run reads what the key did.
  const carol = await get(`${keys}/carol`)
  await patch(`${keys}/carol?dryRun=All`, { spec: { scope: {} } })
  await put(`${keys}/carol?dryRun=All`, { ...carol, spec: { ...carol.spec, scope: {} } })
  await create(`${keys}/bob/rotate`, { spec: {} }, token)
  for (const resource of ['ownedaccesskeys', 'identityproviders', 'federatedidentitycredentials']) {
    const resourceAttributes = { group: 'management.platform', resource, verb: 'get', name: 'bob' }
    await create(`${keys}/bob/accessreview`, { spec: { resourceAttributes } }, token)
  }
  const inNamespace = { group: 'management.platform', resource: 'virtualclusterinstances', namespace: 'p-a', name: 'x' }
  await create(`${keys}/bob/accessreview`, { spec: { resourceAttributes: { ...inNamespace, verb: 'get' } } }, token)
  const atCluster = { nonResourceAttributes: { path: '/', verb: 'get' }, target: { cluster: 'eu' } }
  await create(`${keys}/bob/accessreview`, { spec: atCluster }, token)
  await remove(`${keys}/bob`, token)
  await remove(`${keys}?fieldSelector=spec.user=carol`)
  await create(`${keys}/alice/rotate`, { spec: {} }, token)
  await create(`${keys}/alice/rotate`, { spec: { finish: true } }, token)
  const { status } = await create(`${keys}/alice/rotate`, { spec: { key: 'd'.repeat(40), replace: true } }, token)
  for (const path of [`${keys}/alice`, keys, `${keys}?watch=1&timeoutSeconds=1`]) {
    await get(path, status.key)
    await get(path, token)
  }
  await patch(`${keys}/alice`, { spec: { description: 'settled' } }, status.key)
  await get(`${keys}/alice`, token)
  await create(`${keys}/alice/rotate`, { spec: { finish: true } }, status.key)
})

test('lookups of values, current, pending, used and ended', async () => {
  const lookups = '/apis/management.platform/v1/accesskeylookups'
  const lookUp = async (value: string, token?: string) =>
    (await create(lookups, { spec: { key: value } }, token)).status.phase
  const { spec } = await create(keys, key('alice-5', { user: 'alice' }))
  const { status } = await create(`${keys}/alice-5/rotate`, { spec: { overlapSeconds: 0 } })
  expect([await lookUp(spec.key, spec.key), await lookUp(status.key)]).toEqual(['Active', 'Active'])
  await get(`${keys}/alice-5`, status.key)
  expect([await lookUp(spec.key, status.key), await lookUp('u'.repeat(40))]).toEqual(['Ended', undefined])
  await patch(`${keys}/alice-5`, { spec: { description: 'settled' } })
  expect(await lookUp(spec.key)).toBe('Ended')
})

test('access key revocations', async () => {
  const alice = await create(keys, key('alice-4', { user: 'alice' }))
  const token: string = alice.spec.key
  for (const name of ['disabled', 'deleted', 'rotated']) {
    await create(keys, key(`${name}-4`, { user: 'alice' }, owner(alice)), token)
  }
  await create(`${keys}/rotated-4/rotate`, { spec: {} }, token)
  const revoke = (spec: object) => create('/apis/management.platform/v1/accesskeyrevocations', { spec }, token)
  await revoke({ names: ['disabled-4', 'rotated-4'] })
  const { status } = await revoke({ madeWith: { name: 'alice-4' }, action: 'Delete' })
  expect(status).toMatchObject({ matched: 3, done: 3, failed: 0 })
  const made = await create(providers, provider('revoked'))
  await create(trusts, trust('revoked', { identityProvider: 'revoked' }), token)
  await patch(`${providers}/revoked`, { spec: { access: [] } })
  const { metadata } = await patch(`${providers}/revoked`, { spec: made.spec })
  await at.request('PUT', `${providers}/revoked`, admin, { ...made, metadata, spec: { ...made.spec, access: [] } })
  for (const action of ['Disable', 'Delete']) {
    const closed = await revoke({ users: ['alice'], federatedIdentityCredentials: true, action })
    expect(closed.status.federatedIdentityCredentials).toMatchObject({ matched: 1, done: 1 })
  }
})

test('identity providers and federated identity credentials', async () => {
  const alice = await create(keys, key('alice-3', { user: 'alice' }))
  const token: string = alice.spec.key
  const first = await create(providers, provider('issuer', {}, owner(alice)))
  const own = await create(trusts, trust('own', {}, owner(alice)), token)
  for (const [path, name] of [
    [providers, 'issuer'],
    [trusts, 'own'],
  ]) {
    for (const read of [`${path}/${name}`, `${path}/${name}/status`, `${path}`, `${path}?watch=1&timeoutSeconds=1`]) {
      await get(read, token)
      await get(read)
    }
    await expect(get(`${path}/${name}?resourceVersion=99999999`, token)).rejects.toThrow(': 504 ')
    await patch(`${path}/${name}`, { spec: { disabled: true } })
    await patch(`${path}/${name}`, { spec: { disabled: false } })
    await patch(`${path}/${name}/status`, { status: {} })
  }
  await put(`${providers}/issuer`, { ...(await get(`${providers}/issuer`)), spec: { ...first.spec, maxTTL: 600 } })
  const current = await get(`${trusts}/own`, token)
  await put(`${trusts}/own`, { ...current, spec: { ...own.spec, ttl: 600 } }, token)
  await patch(`${trusts}/own`, { metadata: owner(first) })
  await create(instances, instance('owned', {}, owner(own)))
  await patch(`${instances}/owned`, { metadata: owner(first) })
  const asked = { group: 'management.platform', verb: 'get' }
  for (const resourceAttributes of [
    { ...asked, resource: 'identityproviders', name: 'issuer' },
    { ...asked, resource: 'federatedidentitycredentials', name: 'own' },
  ]) {
    await create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes } }, token)
    await create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'dave', resourceAttributes } })
  }
  await remove(`${trusts}/own`, token)
  await create(trusts, trust('other'), token)
  await remove(`${trusts}?fieldSelector=spec.identityProvider=issuer`, token)
  await create(providers, provider('removed'))
  await remove(`${providers}/removed`)
  await create(providers, provider('removed', {}, { labels: { gone: 'yes' } }))
  await remove(`${providers}?labelSelector=gone=yes`)
})

test('virtual cluster instances', async () => {
  const alice = await create(keys, key('alice-2', { user: 'alice' }))
  const token: string = alice.spec.key
  const one = await create(instances, instance('one', { owner: { user: 'alice' } }, owner(alice)))
  for (const path of [
    `${instances}/one`,
    instances,
    '/apis/management.platform/v1/virtualclusterinstances',
    `${instances}?watch=1&timeoutSeconds=1`,
  ]) {
    await get(path, token)
  }
  await expect(get(`${instances}/one?resourceVersion=99999999`, token)).rejects.toThrow(': 504 ')
  await put(`${instances}/one`, { ...one, metadata: { ...one.metadata, labels: { a: 'b' } } }, token)
  await patch(`${instances}/one`, { metadata: owner(one) }, token)
  await patch(`${instances}/one`, { metadata: owner(alice) }, token)
  await put(`${instances}/one/status`, { ...(await get(`${instances}/one`)), status: { phase: 'Ready' } })
  await remove(`${instances}/one`, token)
  await create(instances, instance('two'))
  await remove(instances)
})

test('clusters', async () => {
  const alice = await create(keys, key('alice-6', { user: 'alice' }))
  const token: string = alice.spec.key
  const one = await create(
    clusters,
    cluster('one', { access: [{ verbs: ['*', 'use'], users: ['alice'] }] }, owner(alice)),
  )
  for (const path of [`${clusters}/one`, clusters, `${clusters}?watch=1&timeoutSeconds=1`]) await get(path, token)
  await get(`${clusters}/one/status`)
  await create(`${clusters}/one/kubeconfig`, object('ClusterKubeConfig', 'one', {}, {}), token)
  await expect(get(`${clusters}/one?resourceVersion=99999999`, token)).rejects.toThrow(': 504 ')
  await put(`${clusters}/one`, { ...one, metadata: { ...one.metadata, labels: { a: 'b' } } }, token)
  await patch(`${clusters}/one`, { metadata: owner(one) })
  const resourceAttributes = { group: 'management.platform', resource: 'clusters', verb: 'get', name: 'one' }
  await create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes } }, token)
  await create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'dave', resourceAttributes } })
  await create(`${keys}/alice-6/accessreview`, { spec: { resourceAttributes } }, token)
  await create(instances, instance('in-one', {}, owner(one)))
  await create(keys, key('in-one', { user: 'alice' }, owner(one)))
  await remove(`${clusters}/one`)
  await create(clusters, cluster('two'))
  await remove(clusters)
})

test('tokens, kube configs, reviews and documents', async () => {
  const { certificate: certificateAuthority } = await makeAuthority('test', validFor(1, Date.now()))
  await at.keepCredentials(
    'p-demo/three',
    kubeConfigFile({ name: 'manager', server: 'https://three.example.com', certificateAuthority, token: 'manager' }),
  )
  const three = await create(instances, instance('three', { accessPoint: { ingress: { host: 'three.example.com' } } }))
  await create(`${instances}/three/kubeconfig`, object('VirtualClusterInstanceKubeConfig', 'three', {}, {}))
  await create('/apis/management.platform/v1/directclusterendpointtokens', toWest)
  await create('/apis/management.platform/v1/selves', {})
  await create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {})
  const token = (await create(keys, key('dave', { user: 'dave' }))).spec.key
  await create('/apis/management.platform/v1/selves', { spec: { accessKey: token } })
  await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })
  const scope = { roles: [{ role: 'vcluster', projects: ['demo'], virtualClusters: ['demo/three'] }] }
  const agent = (await create(keys, key('agent', { user: 'agent', scope }))).spec.key
  await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } }, agent)
  const asked = { group: 'management.platform', verb: 'get' }
  for (const resourceAttributes of [
    { ...asked, resource: 'ownedaccesskeys', name: 'dave' },
    { ...asked, resource: 'virtualclusterinstances', namespace: 'p-demo', name: three.metadata.name },
  ]) {
    await create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec: { resourceAttributes } }, token)
    await create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'dave', resourceAttributes } })
  }
  await create('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'p-demo' } }, token)
  for (const path of ['/apis', '/openapi/v3', '/openid/v1/jwks', '/version']) await get(path)
  await expect(get('/nothing')).rejects.toThrow(': 404 ')
  await expect(at.request('GET', '/../../console/nothing', '')).rejects.toThrow(': 404 There is no such page')
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const path of ['/api/v1/namespaces', definitions]) await get(path)
  await expect(create('/api/v1/namespaces', { metadata: { name: 'p-web' } })).rejects.toThrow(': 409 ')
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'p-web' } }
  await at.request('PUT', '/api/v1/namespaces/p-web', admin, namespace)
  await at.request('PATCH', '/api/v1/namespaces/p-web', admin, namespace, 'application/merge-patch+json')
})

test('keys of an exchange', async () => {
  const federation = newFederation()
  await openGates(at.parts, federation)
  const { name, token } = await createExchangedKey(at.parts, federation, { spec: { user: 'frank', type: 'Login' } })
  await create(keys, key('franks', {}), token)
  await patch(`${keys}/franks`, { spec: { description: 'x' } }, token)
  await remove(`${keys}/franks`, token)
  await create(providers, provider('frank', { issuer: 'https://frank.example.com' }))
  await create(trusts, trust('franks', { identityProvider: 'frank' }), token)
  await create('/apis/management.platform/v1/selves', { spec: { accessKey: token } })
  await create('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } })
  const user = await get(`${keys}/${name}`)
  const extra = {
    'management.platform/access-key': [name],
    'management.platform/access-key-uid': [user.metadata.uid],
    'management.platform/scopes': ['[{"clusters":[{"cluster":"eu"}]}]'],
    'management.platform/target': ['clusters/eu'],
  }
  const resourceAttributes = { verb: 'get', resource: 'pods' }
  const review = { spec: { user: 'frank', extra, resourceAttributes } }
  expect((await create('/apis/authorization.k8s.io/v1/subjectaccessreviews', review)).status).toEqual({
    allowed: false,
  })
  const looks = ['dynamodb:BatchGetItem', 'dynamodb:ConditionCheckItem']
  const gates = at.calls.filter(
    ({ action, partitions }) => looks.includes(action) && partitions?.some((one) => one.startsWith('trust#')),
  )
  expect(new Set(gates.map(({ name }) => name))).toEqual(
    new Set([
      'authorizer',
      'ownedaccesskeys/create',
      'ownedaccesskeys/patch',
      'ownedaccesskeys/delete',
      'federatedidentitycredentials/create',
      'selves/create',
      'reviews/tokenreview',
      'reviews/subjectaccessreview',
    ]),
  )
})

test.each(['PUT', 'PATCH', 'DELETE'])('%s of the trust and of the provider that a key came through', async (method) => {
  for (const closed of [trusts, providers]) {
    const name = `${method.toLowerCase()}-${closed === trusts ? 'trust' : 'provider'}`
    const { metadata: ofProvider } = await create(providers, provider(name))
    const { metadata: ofTrust } = await create(trusts, trust(name, { identityProvider: name, user: 'grace' }))
    const through = {
      trust: { uid: ofTrust.uid, revision: 0 },
      provider: { uid: ofProvider.uid, revision: 0 },
      run: 'a run',
    }
    const spec = { user: 'grace', groups: ['system:masters'], type: 'Login' }
    const { token } = await createExchangedKey(at.parts, through, { spec })
    const path = `${closed}/${name}`
    const live = await get(path, token)
    const disabled = { ...live, spec: { ...live.spec, disabled: true } }
    if (method === 'PUT') await put(path, disabled, token)
    if (method === 'PATCH') await patch(path, { spec: { disabled: true } }, token)
    if (method === 'DELETE') await remove(path, token)
    await expect(get(path, token)).rejects.toThrow(': 401 ')
  }
})

test('reports of leaked keys, with each outcome', async () => {
  const { spec } = await create(keys, key('leaked', { user: 'frank' }))
  const asking = { user: 'eu', scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: 'eu' }] } }
  const { spec: reviewer } = await create(keys, key('reviewer', asking))
  const federation = newFederation()
  await openGates(at.parts, federation)
  const { token } = await createExchangedKey(at.parts, federation)
  const unknown = 'unknown-to-everybody-everywhere-0123456789'
  const body = { credentials: [spec.key, reviewer.key, token, unknown] }
  for (let repeat = 0; repeat < 2; repeat++) await at.request('POST', '/leaks', '', body)
  for (const value of [spec.key, token])
    await expect(create('/apis/management.platform/v1/selves', {}, value)).rejects.toThrow(': 401 ')
  const signals = at.calls.filter(({ partitions }) => partitions?.some((one) => one.startsWith('signal#')))
  expect(new Set(signals.map(({ name }) => name))).toContain('leaks')
})

test('exchanges of ID tokens, with each outcome', async () => {
  const issuer = await startIssuer({ issuer: 'https://ci.example.com' })
  const audience = at.environment.ISSUER
  const sign = (claims: object = {}) => issuer.sign({ aud: audience, jti: Math.random(), ...claims })
  const send = (path: string, form: string) => at.request('POST', path, '', form, 'application/x-www-form-urlencoded')
  const exchange = (client: string, token: string, more: Record<string, string> = {}) =>
    send('/oauth2/token', exchangeForm(client, token, more))
  const clientWith = async (name: string, spec: object, ofTrust: object = {}) => {
    const made = await create(providers, provider(name, { type: 'OIDC', issuer: issuer.issuer, ...spec }))
    const claims = [
      { claim: 'sub', values: ['job'] },
      { claim: 'ref', values: ['main'] },
    ]
    const client = await create(
      trusts,
      trust(name, { identityProvider: name, user: 'job', scope: {}, claims, ...ofTrust }),
    )
    return { uid: made.metadata.uid, client: client.status.clientID }
  }
  const once = await clientWith('once', { jwks: issuer.jwks() })
  const token = sign({ ref: 'main' })
  expect(await exchange(once.client, token, { dry_run: 'true' })).toMatchObject({ accepted: true })
  const { access_token: made } = await exchange(once.client, token)
  await expect(exchange(once.client, token)).rejects.toThrow('exchanged already')
  await expect(exchange(once.client, sign({ ref: 'other' }))).rejects.toThrow("claim ref is 'other'")
  await expect(exchange(once.client, sign({ iss: 'https://other.example.com' }))).rejects.toThrow('is not accepted')
  await expect(exchange(once.client, 'a.b.c')).rejects.toThrow(': 400 ')
  await send('/oauth2/revoke', `token=${made}`)
  await expect(create('/apis/management.platform/v1/selves', {}, made)).rejects.toThrow(': 401 ')

  const lifetime = await clientWith('lifetime', { jwks: issuer.jwks(), tokenUse: 'Lifetime' })
  for (let count = 0; count < 2; count++) await exchange(lifetime.client, token)

  const places = {
    clusters: [{ cluster: 'west' }, { cluster: 'north' }],
    virtualClusters: [{ project: 'demo', virtualCluster: '*' }],
  }
  const targeted = await clientWith('targeted', { jwks: issuer.jwks(), tokenUse: 'Lifetime' }, { scope: places })
  await create(instances, instance('target', { owner: { user: 'job' } }))
  await create(
    clusters,
    cluster('west', { access: [{ verbs: ['create'], subresources: ['kubeconfig'], users: ['job'] }] }),
  )
  for (const audience of ['clusters/west', 'virtualclusters/demo/target']) {
    for (let count = 0; count < 2; count++) await exchange(targeted.client, token, { audience })
    const form = exchangeForm(targeted.client, sign({ ref: 'main' }), { audience })
    const { access_token: issued } = await send('/oauth2/token', form)
    await send('/oauth2/revoke', `token=${issued}`)
    await expect(send('/oauth2/token', form)).rejects.toThrow('was ended')
  }
  const target = { access: [{ verbs: ['create'], subresources: ['kubeconfig'], users: ['job'] }] }
  await create(clusters, cluster('north', target))
  const forSeveral = (other = 'clusters/north') =>
    at.request(
      'POST',
      '/oauth2/token',
      '',
      `${exchangeForm(targeted.client, token)}&audience=clusters/west&audience=${other}`,
      'application/x-www-form-urlencoded',
      'application/yaml;as=KubeConfig',
    )
  const [[, first = '']] = [...String(await forSeveral()).matchAll(/token: (\S+)/g)] as unknown as [string[]]
  const [, claims = ''] = first.split('.')
  // It has no address. Both kinds are read in one call before that is seen.
  await expect(forSeveral('virtualclusters/demo/target')).rejects.toThrow('no ingress endpoint')
  const { key: ofSeveral } = JSON.parse(Buffer.from(claims, 'base64url').toString())['management.platform']
  const review = () =>
    create('/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: {
        user: 'job',
        extra: {
          'management.platform/access-key': [ofSeveral.name],
          'management.platform/access-key-uid': [ofSeveral.uid],
          'management.platform/scopes': ['[]'],
          'management.platform/target': ['clusters/west'],
          'management.platform/issued-at': [String(Math.floor(Date.now() / 1000))],
        },
        resourceAttributes: { verb: 'get', resource: 'pods' },
      },
    })
  expect((await review()).status).toEqual({ allowed: false })
  await send('/oauth2/revoke', `token=${first}`)
  expect((await review()).status).toMatchObject({ denied: true })
  await create(`${keys}/${ofSeveral.name}/accessreview`, {
    spec: { target: { cluster: 'west' }, resourceAttributes: { verb: 'get', resource: 'pods' } },
  })
  await expect(forSeveral()).rejects.toThrow('was ended')

  const host = 'https://issuer.invalid'
  const fetched = await clientWith('fetched', { issuer: host })
  await expect(exchange(fetched.client, sign({ iss: host, ref: 'main' }))).rejects.toThrow('cannot be read')
  const known = await clientWith('known', { issuer: host })
  const long = Date.now() - 20 * 60_000
  const times = { attemptedAt: long, fetchedAt: long, freshFor: 60_000 }
  const state = { revision: 0, ...times, keys: parseKeySet(issuer.jwks()) }
  await at.parts.storage.writeCompanion(encodeKeyItem(known.uid, state), { deadline: endless })
  await exchange(known.client, sign({ iss: host, ref: 'main' }))
  await issuer.close()
})

test.each(kinds)('lists of %s close gaps in the log and settle it', async (kind) => {
  const [path = '', object = key] = examples[kind] ?? []
  await create(path, object('before-1'))
  await revision(kind, 'ADD #one :value', 1, 'n')
  await create(path, object('after-1'))
  await get(path)
  await revision(kind, 'SET #one = :value', 1)
  await get(path)
  const done = at.calls.filter(({ name }) => name === `${kind}/list`).map(({ action }) => action)
  expect(done).toEqual(expect.arrayContaining(['dynamodb:PutItem', 'dynamodb:UpdateItem']))
})

test.each(kinds)('writers of %s settle the log', async (kind) => {
  const [path = '', object = key] = examples[kind] ?? []
  await create(path, object('often'))
  const settles = () =>
    at.calls.filter(
      ({ name, action, partitions }) =>
        name === `${kind}/patch` && action === 'dynamodb:Query' && partitions?.[0]?.startsWith(`${kind}#log#`),
    )
  for (let count = 0; settles().length === 0 && count < 200; count++) {
    await patch(`${path}/often`, { metadata: { labels: { count: String(count) } } })
  }
  expect(settles()).not.toHaveLength(0)
})

test('a watch checks that its key is still valid', async () => {
  const federation = newFederation()
  await openGates(at.parts, federation)
  const { token } = await createExchangedKey(at.parts, federation, { spec: { user: 'erin' } })
  const readsOf = (start: string) =>
    at.calls.filter(
      ({ name, partitions }) =>
        name === 'virtualclusterinstances/list' && partitions?.some((one) => one.startsWith(start)),
    )
  const callCount = () => at.calls.filter(({ name }) => name === 'virtualclusterinstances/list').length
  let ahead = 0
  const now = performance.now.bind(performance)
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  try {
    const before = callCount()
    const watched = get(`${instances}?watch=1&resourceVersion=0&timeoutSeconds=60`, token)
    // Wait until the watch has started: it counts the time from there.
    await vi.waitFor(() => expect(callCount()).toBeGreaterThan(before + 8), patience)
    ahead = 11_000
    await vi.waitFor(() => expect(readsOf('credential#')).not.toHaveLength(0), patience)
    await vi.waitFor(() => expect(readsOf(`trust#${federation.trust.uid}`)).not.toHaveLength(0), patience)
    ahead = 61_000
    await watched
  } finally {
    spy.mockRestore()
  }
})

test('garbage collector, sweep and settle', async () => {
  const parent = await create(instances, instance('parent'))
  await create(instances, instance('child', {}, owner(parent)))
  const holder = await create(keys, key('holder', { user: 'holder' }))
  await create(keys, key('held', { user: 'holder' }, owner(holder)))
  const boss = await create(keys, key('boss', { user: 'boss' }))
  await create(providers, provider('held', {}, owner(boss)))
  await create(trusts, trust('held', {}, owner(boss)))
  await remove(`${keys}/boss?propagationPolicy=Foreground`)
  await remove(`${instances}/parent?propagationPolicy=Foreground`)
  await remove(`${keys}/holder?propagationPolicy=Orphan`)
  await at.invoke('garbagecollector', {})
  for (const path of [`${instances}/child`, `${providers}/held`, `${trusts}/held`]) {
    await expect(get(path)).rejects.toThrow(': 404 ')
  }
  await at.invoke('garbagecollector', sampleEvent('garbagecollector'))

  await create(keys, key('brief', { user: 'brief', ttl: 1 }))
  await age('brief')
  await at.invoke('sweep', {})
  await expect(get(`${keys}/brief`)).rejects.toThrow(': 404 ')
  await at.invoke('settle', {})
  for (const kind of kinds) await revision(kind, 'SET #one = :value', 0, 'markedAt')
  await at.invoke('settle', {})
  const cleared = at.calls.filter(({ name, action }) => name === 'settle' && action === 'dynamodb:DeleteItem')
  expect(cleared.flatMap(({ partitions = [] }) => partitions)).toEqual(
    expect.arrayContaining(['ownedaccesskeys#o', 'ownedaccesskeys#o#user:boss', 'virtualclusterinstances#o']),
  )
})

test('Secrets that tokens of service accounts are bound to', async () => {
  const { storage } = at.parts
  await create(clusters, {
    apiVersion: 'management.platform/v1',
    kind: 'Cluster',
    metadata: { name: 'accounts' },
    spec: { server: 'https://accounts.example.com', tokens: 'ServiceAccounts' },
  })
  const bind = async (uid: string, name: string) => {
    const at = Math.floor(Date.now() / 1000)
    const place = `clusters/accounts/${uid}`
    const item = boundItem(
      boundKey(uid, place, '1'),
      {
        ...{ name, uid, account: 'user.alice', namespace: 'keyplane', secret: `keyplane-${uid}-01234567` },
        ...{ secretRef: 'accounts', secretUid: `secret of ${uid}` },
        ...{ server: 'https://accounts.example.com', since: at, until: at + 600 },
      },
      at,
    )
    await storage.writeCompanion(placeItem(place, at), unhurried)
    await storage.writeCompanion(item, unhurried)
  }
  const made = await create(keys, key('bound', { user: 'bound' }))
  await bind(made.metadata.uid, 'bound')
  await bind('gone', 'gone')
  const also = await create(keys, key('bound-too', { user: 'bound' }))
  await bind(also.metadata.uid, 'bound-too')
  await at.invoke('boundsecrets', {})
  expect(at.log.map((line) => JSON.parse(line)).findLast(({ message }) => message === 'bound secrets')).toMatchObject({
    secretsUnconfirmed: 3,
    secretsFailed: 0,
  })
  const refused = create(`${clusters}/accounts/kubeconfig`, {
    apiVersion: 'management.platform/v1',
    kind: 'ClusterKubeConfig',
  })
  await expect(refused).rejects.toThrow('has no stored credentials')
  for (const names of [['bound'], ['bound', 'bound-too']]) {
    const spec = { names, action: names.length > 1 ? 'Delete' : 'Disable' }
    const { status } = await create('/apis/management.platform/v1/accesskeyrevocations', { spec })
    expect(status.unconfirmed).toEqual({ keys: names.length, clusters: ['accounts'] })
  }
  const presented = await create(keys, key('presented', { user: 'bound' }))
  const { uid } = presented.metadata
  await bind(uid, 'presented')
  const secret = { name: `keyplane-${uid}-01234567`, uid: `secret of ${uid}` }
  const exp = Math.floor(Date.now() / 1000) + 600
  const token = encodeToken({ iat: exp - 600, exp, 'kubernetes.io': { secret } })
  // Nobody removes the Secret meanwhile.
  await at.request('POST', '/oauth2/revoke', '', `token=${token}`, 'application/x-www-form-urlencoded')
  expect(await getCompanion(storage, boundKey(uid, `clusters/accounts/${uid}`, '1'))).toMatchObject({
    attributes: { ended: expect.any(Number) },
  })
  await remove(`${clusters}/accounts`)
  await at.invoke('lifecycle', {})
})

test('events', async () => {
  await at.invoke('lifecycle', sampleEvent('lifecycle'))
  expect(at.services.published.length).toBeGreaterThan(10)
  // A position of another table, as after a restore; an hour ago, so that the expiries are read.
  const { storage } = at.parts
  const position = await getCompanion(storage, { pk: 'lifecycle#position', sk: '#' })
  const attributes = { rv: 1_000_000, until: Math.floor(Date.now() / 1000) - 7200, touched: 1 }
  await create(keys, key('lapsed', { user: 'lapsed', ttl: 1 }))
  await age('lapsed')
  const versionOf = async () => (await get(`${keys}/lapsed`)).metadata.resourceVersion
  const before = await versionOf()
  await storage.writeCompanion({ pk: 'lifecycle#position', sk: '#', attributes, when: { is: position } }, unhurried)
  await at.invoke('lifecycle', {})
  expect(at.log.join('')).toContain('"message":"events lost"')
  expect(at.log.filter((line) => line.includes('"level":"error","message":"events"'))).toEqual([])
  expect(await versionOf()).not.toBe(before)
  expect(at.log.join('')).toContain('"message":"unused keys"')
})

// A request waits a second for such a write, which a busy machine exceeds.
test('no role refuses to record usage', () =>
  expect(at.log.filter((line) => /usage not recorded/.test(line) && !/deadline of the request/.test(line))).toEqual([]))

// CloudFormation invokes `release`, which uses no service: test/lib/server/release.test.ts.
// threat: storage-5
test('every function ran', async () => expect([...at.ran, 'release'].sort()).toEqual(await functionNames(root)))

/** Returns the metrics that the functions published, in the format of `readWatched`, with the stage of the template. */
function readPublishedMetrics() {
  const metrics = new Set<string>()
  const values = new Map<string, Set<string>>()
  for (const line of at.log.map((text) => JSON.parse(text))) {
    for (const { Namespace, Dimensions, Metrics } of line._aws?.CloudWatchMetrics ?? []) {
      const namespace = String(Namespace).replace(/\/\w+$/, '/dev')
      for (const { Name } of Metrics) {
        metrics.add(metricId(namespace, Name, Dimensions[0]))
        for (const one of Dimensions[0]) {
          const id = `${namespace} ${Name} ${one}`
          values.set(id, (values.get(id) ?? new Set()).add(line[one]))
        }
      }
    }
  }
  return { metrics, values }
}

test('alarms and dashboard use published metrics, and the page documents them', async () => {
  const refused: [path: string, token: string, code: number][] = [
    [`${keys}/gone`, '', 401],
    [`${keys}/a%2Fb`, admin, 400],
    [`${keys}/gone`, (await create(keys, key('narrow', { user: 'narrow', scope: {} }))).spec.key, 403],
    [`${keys}/gone`, (await create(keys, key('off', { user: 'off', disabled: true }))).spec.key, 401],
  ]
  for (const [path, token, code] of refused) await expect(get(path, token)).rejects.toThrow(`: ${code} `)
  const watched = readTemplateMetrics(defaultTemplate(await readPackagedTemplate()))
  const { metrics, values } = readPublishedMetrics()
  const own = [...watched.metrics].filter((one) => one.startsWith('keyplane/dev '))
  expect(own.length).toBeGreaterThan(8)
  expect(own.filter((one) => !metrics.has(one) && !watched.filtered.has(one))).toEqual([])
  const others = [...watched.metrics].filter((one) => !one.startsWith('keyplane/'))
  expect(others.filter((one) => !ofServices.has(one))).toEqual([])
  const outcomes = 'keyplane/dev authorizations authorization'
  expect(watched.values.get(outcomes)).toEqual(values.get(outcomes))

  const page = await readFile(join(root, 'docs/monitoring.md'), 'utf8')
  for (const one of new Set([...metrics, ...watched.filtered])) {
    const [, name = '', dimension = ''] = one.split(' ')
    expect(page).toMatch(new RegExp(`^\\| .*\`${name}\`.* \\|${dimension && ` \`${dimension}\``}`, 'm'))
  }
  // AWS bills each value of a dimension as a metric. Add the outcomes of the authorizer that do not occur here.
  const told = [...values.values()].reduce((sum, { size }) => sum + size, 0)
  const untold = [...metrics].filter((one) => one.split(' ').length === 2).length
  const filtered = [...watched.filtered].filter((one) => !metrics.has(one)).length
  const missing = ['failed', 'source'].filter((outcome) => !values.get(outcomes)?.has(outcome))
  const all = told + untold + filtered + missing.length
  const cost = await readFile(join(root, 'docs/cost.md'), 'utf8')
  expect(cost).toContain(`All of them are ${all}, $${(0.3 * all).toFixed(2)}`)
  const hourly = [...metrics].filter((one) => /^keyplane\/dev (sweep|collection)/.test(one)).length
  expect(cost).toContain(`| metrics of the functions that run every hour | ${hourly} |`)
})

/** Source: the documented metrics and dimensions of Lambda, API Gateway, EventBridge, DynamoDB and SQS. */
const ofServices = new Set([
  ...['Count', '4XXError', '5XXError', 'Latency'].map((one) => metricId('AWS/ApiGateway', one, ['ApiName', 'Stage'])),
  ...['Errors', 'Throttles', 'ConcurrentExecutions'].map((one) => metricId('AWS/Lambda', one, [])),
  ...['Duration', 'Errors', 'Invocations', 'IteratorAge', 'Throttles'].map((one) =>
    metricId('AWS/Lambda', one, ['FunctionName']),
  ),
  metricId('AWS/Events', 'Invocations', ['RuleName']),
  ...['Read', 'Write'].flatMap((one) => [
    metricId('AWS/DynamoDB', `Consumed${one}CapacityUnits`, ['TableName']),
    metricId('AWS/DynamoDB', `${one}ThrottleEvents`, ['TableName']),
    metricId('AWS/DynamoDB', `${one}ThrottleEvents`, ['TableName', 'GlobalSecondaryIndexName']),
  ]),
  metricId('AWS/DynamoDB', 'TransactionConflict', ['TableName']),
  metricId('AWS/SQS', 'ApproximateNumberOfMessagesVisible', ['QueueName']),
])

/** Backdates a key and its credential. */
async function age(name: string): Promise<void> {
  const { Items = [] } = await at.store.dynamodb.client.send(
    new ScanCommand({
      TableName: at.store.dynamodb.table,
      FilterExpression: 'begins_with(pk, :credential) AND #name = :name',
      ExpressionAttributeNames: { '#name': 'name' },
      ExpressionAttributeValues: { ':credential': { S: 'credential#' }, ':name': { S: name } },
    }),
  )
  const [{ pk, sk } = {}] = Items
  await at.store.dynamodb.client.send(
    new UpdateItemCommand({
      TableName: at.store.dynamodb.table,
      Key: { pk: pk as never, sk: sk as never },
      UpdateExpression: 'SET created = :one, expiry = :two',
      ExpressionAttributeValues: { ':one': { N: '1' }, ':two': { N: '2' } },
    }),
  )
  const row = marshalKey({ pk: rowsOf('ownedaccesskeys'), sk: name })
  const { Item } = await at.store.dynamodb.client.send(
    new GetItemCommand({ TableName: at.store.dynamodb.table, Key: row }),
  )
  const object = JSON.parse(String(Item?.object?.S))
  object.metadata.creationTimestamp = '1970-01-01T00:00:01Z'
  await at.store.dynamodb.client.send(
    new UpdateItemCommand({
      TableName: at.store.dynamodb.table,
      Key: row,
      UpdateExpression: 'SET #object = :object',
      ExpressionAttributeNames: { '#object': 'object' },
      ExpressionAttributeValues: { ':object': { S: JSON.stringify(object) } },
    }),
  )
}
