import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { generateAccessKey } from '../../../../lib/keys/credential/accesskey.ts'
import { useFunctions } from '../../../support/functions.ts'
import { alice, bob } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'
import { callsOf, instances, refused, status } from '../../stored/fixtures.ts'
import { describeVirtual } from '../../virtual/create.ts'

const functions = useFunctions()
const { make } = callsOf(functions, instances)
const kind = 'VirtualClusterInstanceKubeConfig'
const body = (spec: object, metadata: object = {}) => ({ apiVersion: 'management.platform/v1', kind, metadata, spec })
const fetch = (name: string, spec: object = {}, user = alice, more: object = {}) =>
  functions.invoke('virtualclusterinstances/kubeconfig/create', {
    user,
    parameters: { name },
    headers: { accept: 'application/json', 'content-type': 'application/json' },
    body: body(spec),
    ...more,
  })
const host = 'preview.example.com'

beforeAll(async () => {
  await make({ name: 'preview' }, { owner: { user: 'admin' }, accessPoint: { ingress: { enabled: true, host } } })
  await make({ name: 'alices' }, { owner: { user: 'alice' }, accessPoint: { ingress: { host } } })
  await make({ name: 'nowhere' }, { owner: { user: 'alice' } })
  await make({ name: 'used' }, { access: [{ verbs: ['use'], users: ['bob'] }], accessPoint: { ingress: { host } } })
  await make({ name: 'read' }, { access: [{ verbs: ['get'], users: ['bob'] }], accessPoint: { ingress: { host } } })
})

describeVirtual(functions, {
  name: 'virtualclusterinstances/kubeconfig/create',
  apiVersion: 'management.platform/v1',
  kind,
  spec: { certificateTTL: 3600 },
  hasCredential: true,
})

describe('201', () => {
  // Specification 2.5: a YAML document of kind Config with apiVersion v1.
  // threat: tokens-7
  test('returns a kubeconfig with a token for this virtual cluster and not for requests to this API', async () => {
    const { json } = await fetch('alices')
    expect(json.metadata).toMatchObject({ name: 'alices', namespace: 'p-web', uid: expect.any(String) })
    const config = await parseYaml(json.status.kubeConfig)
    expect(config).toMatchObject({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'alices.p-web@keyplane.example.com',
      clusters: [{ name: 'alices.p-web@keyplane.example.com', cluster: { server: `https://${host}` } }],
    })
    const { token } = config.users[0].user
    expect(await functions.get().parts.authenticate(token)).not.toHaveProperty('user')
    const claims = decodeJwt(token)
    const issuer = 'https://keyplane.example.com/kubernetes/management'
    expect(claims.aud).toEqual([`${issuer}/virtualclusters/p-web/alices/${json.metadata.uid}`])
    expect((claims.exp ?? 0) - (claims.iat ?? 0)).toBe(86400)
    expect(Date.parse(json.status.expirationTimestamp)).toBe((claims.exp ?? 0) * 1000)
  })

  test('has the proxy and the name of the certificate of the instance, unless the address is another one', async () => {
    const network = { proxyURL: 'http://proxy.example.com:3128', tlsServerName: 'far.internal' }
    await make({ name: 'far' }, { owner: { user: 'alice' }, accessPoint: { ingress: { host } }, ...network })
    const clusterOf = async (spec: object) =>
      (await parseYaml((await fetch('far', spec)).json.status.kubeConfig)).clusters[0].cluster
    const written = { 'proxy-url': 'http://proxy.example.com:3128', 'tls-server-name': 'far.internal' }
    expect(await clusterOf({})).toEqual({ server: `https://${host}`, ...written })
    expect(await clusterOf({ exec: plugin })).toEqual({ server: `https://${host}`, ...written })
    expect(await clusterOf({ server: 'https://own.example.com' })).toEqual({ server: 'https://own.example.com' })
  })

  test('allows users with an access rule', async () => expect((await fetch('used', {}, bob)).status).toBe(201))

  // As for a TokenRequest, the body may repeat the metadata of the instance if it matches.
  test('accepts the uid of the instance or an empty one, and ignores a resourceVersion', async () => {
    const { uid } = (await fetch('alices')).json.metadata
    for (const metadata of [{ uid }, { uid: '' }, { uid, resourceVersion: '1' }, { resourceVersion: 'x' }]) {
      const { status: code, json } = await fetch('alices', {}, alice, { body: body({}, metadata) })
      expect([code, json.metadata]).toEqual([201, expect.objectContaining({ name: 'alices', uid })])
      expect(json.metadata).not.toHaveProperty('resourceVersion')
      expect(JSON.stringify(json.metadata.managedFields ?? [])).not.toContain('f:uid')
    }
  })

  const plugin = { command: 'curl', args: ['-q', '--data', '{"spec": "$HOME"}', ''] }

  test('writes the command of spec.exec instead of a credential', async () => {
    const { status: code, json } = await fetch('alices', { exec: plugin })
    expect([code, Object.keys(json.status)]).toEqual([201, ['kubeConfig']])
    const { users, clusters } = await parseYaml(json.status.kubeConfig)
    const apiVersion = 'client.authentication.k8s.io/v1'
    expect(users).toEqual([
      {
        name: 'alices.p-web@keyplane.example.com',
        user: { exec: { apiVersion, ...plugin, interactiveMode: 'Never' } },
      },
    ])
    expect(clusters[0].cluster.server).toBe(`https://${host}`)
  })

  test('accepts spec.exec without arguments, in a dry run, and with clientCert: false', async () => {
    const { json } = await fetch('alices', { exec: { command: 'keyplane' }, clientCert: false })
    expect((await parseYaml(json.status.kubeConfig)).users[0].user.exec).toMatchObject({
      command: 'keyplane',
      args: [],
    })
    const dry = await fetch('alices', { exec: plugin }, alice, { query: { dryRun: 'All' } })
    expect([dry.status, dry.json.status]).toEqual([201, {}])
  })
})

test('400 for the namespace of another instance', async () =>
  expect((await fetch('alices', {}, alice, { body: body({}, { namespace: 'p-shop' }) })).status).toBe(400))

// Reading an instance does not include using it.
test('403 for a user who may only read the instance', async () =>
  expect(await fetch('read', {}, bob)).toMatchObject({ status: 403, json: { reason: 'Forbidden' } }))

describe('404', () => {
  test('for an instance that does not exist', async () =>
    expect(await fetch('nothing')).toMatchObject(
      refused(404, 'NotFound', 'virtualclusterinstances.management.platform "nothing" not found'),
    ))

  // The response does not reveal that another user's instance exists.
  test.each([{}, { uid: 'guess' }])('for an instance of others, with the metadata %j', async (metadata) => {
    const guess = { body: body({}, metadata) }
    const { status: code, text } = await fetch('alices', {}, bob, guess)
    expect([code, text]).toEqual([404, (await fetch('missing', {}, bob, guess)).text.replaceAll('missing', 'alices')])
  })
})

// The plugin itself asks for the credential. A kube config with a plugin has none.
test.each([{}, { dryRun: 'All' }])('406 for an ExecCredential with spec.exec: %j', async (query) => {
  const accept = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'
  const headers = { accept, 'content-type': 'application/json' }
  const { status: code, json } = await fetch('alices', { exec: { command: 'curl' } }, alice, { headers, query })
  const message = `you requested an ExecCredential, but the requested ${kind} has no credential`
  expect([code, json]).toEqual([406, status(406, 'NotAcceptable', message)])
})

// Source: TokenRequest of kube-apiserver 1.34. It is checked before the spec, and also in dry runs.
test.each([{}, { query: { dryRun: 'All' } }])('409 for the uid of another instance in the body: %j', async (more) => {
  const { uid } = (await fetch('alices')).json.metadata
  const sent = { ...more, body: body({ certificateTTL: 1 }, { uid: 'of-another' }) }
  const { status: code, json } = await fetch('alices', {}, alice, sent)
  const why = `the UID in the kube config request (of-another) does not match the UID of the virtual cluster instance (${uid})`
  expect([code, json]).toEqual([
    409,
    status(409, 'Conflict', `Operation cannot be fulfilled on ${kind}.management.platform "alices": ${why}`),
  ])
})

describe('422', () => {
  test.each([
    { spec: { certificateTTL: 59 }, field: 'spec.certificateTTL' },
    { spec: { server: 'nonsense' }, field: 'spec.server' },
    { spec: { clientCert: 'yes' }, field: 'spec.clientCert' },
    { spec: { exec: { command: 'curl' }, clientCert: true }, field: 'spec.clientCert' },
    { spec: { exec: { command: 'curl' }, certificateTTL: 900 }, field: 'spec.certificateTTL' },
    { spec: { exec: { command: 'curl' }, certificateTTL: 0 }, field: 'spec.certificateTTL' },
    { spec: { exec: {} }, field: 'spec.exec.command' },
    { spec: { exec: { command: '' } }, field: 'spec.exec.command' },
    { spec: { exec: { command: 'c'.repeat(4097) } }, field: 'spec.exec.command' },
    { spec: { exec: { command: 'curl', args: 'x' } }, field: 'spec.exec.args' },
    { spec: { exec: { command: 'curl', args: ['x'.repeat(4097)] } }, field: 'spec.exec.args[0]' },
    { spec: { exec: { command: 'curl', args: Array(65).fill('x') } }, field: 'spec.exec.args' },
    { spec: { exec: 'curl' }, field: 'spec.exec' },
  ])('for $spec', async ({ spec, field }) => {
    const { status: code, json } = await fetch('alices', spec)
    expect([code, json.details.causes[0].field]).toEqual([422, field])
  })

  // Arguments are visible to every process of the machine. The message does not repeat the key.
  // threat: people-2
  test('for an access key in the arguments of spec.exec', async () => {
    const key = generateAccessKey(randomBytes)
    const { status: code, json, text } = await fetch('alices', { exec: { command: 'curl', args: ['-q', `x: ${key}`] } })
    expect([code, json.details.causes[0].field]).toEqual([422, 'spec.exec.args[1]'])
    expect(text).not.toContain(key)
  })

  test('for another name in the body', async () => {
    const { status: code, json } = await fetch('alices', {}, alice, { body: body({}, { name: 'other' }) })
    expect([code, json.details.name, json.details.causes[0].field]).toEqual([422, 'alices', 'metadata.name'])
  })
})
