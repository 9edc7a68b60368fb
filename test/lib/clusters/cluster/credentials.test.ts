import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { parseCredentials } from '../../../../lib/clusters/cluster/credentials.ts'
import { ClusterError } from '../../../../lib/clusters/cluster/failure.ts'
import { toBase64 } from '../../../../lib/clusters/cluster/pem.ts'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'
import { type Authority, type Pair, testAuthority } from '../authority.ts'
import cases from './vectors/credentials.cases.json' with { type: 'json' }

let authority: Authority
let pair: Pair
let other: Pair
beforeAll(async () => {
  authority = await testAuthority()
  pair = await authority.pair({ user: 'administrator' })
  other = await authority.pair({ user: 'administrator' })
})

const server = 'https://dev.example.com:8443/base'
const SECRET = 'hunter2hunter2'

// biome-ignore lint/suspicious/noExplicitAny: the tests damage it in every way
type Loose = any

function config(change: (parts: Loose) => void = () => undefined): Loose {
  const parts = {
    apiVersion: 'v1',
    kind: 'Config',
    preferences: {},
    clusters: [{ name: 'c', cluster: { server, 'certificate-authority-data': toBase64(authority.certificate) } }],
    users: [{ name: 'u', user: { token: SECRET } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
    'current-context': 'x',
  }
  change(parts)
  return parts
}

/** Returns changes of one part. */
const into = (part: (parts: Loose) => Loose) => (members: object) => (parts: Loose) =>
  Object.assign(part(parts), members)
const user = into(({ users }) => users[0].user)
const cluster = into(({ clusters }) => clusters[0].cluster)
const context = into(({ contexts }) => contexts[0].context)
const top = into((parts) => parts)

const withCertificate = (own: Pair) => (parts: Loose) => {
  parts.users[0].user = { 'client-certificate-data': toBase64(own.certificate), 'client-key-data': toBase64(own.key) }
}

const parse = (secret: unknown, fallbackServer?: string) =>
  parseCredentials(typeof secret === 'string' ? secret : JSON.stringify(secret), {
    cluster: 'p-shop/dev',
    ...(fallbackServer !== undefined && { fallbackServer }),
  })

async function refusal(secret: unknown): Promise<string> {
  const error = await parse(secret, server).then(
    () => new Error('it was taken'),
    (reason) => reason,
  )
  expect(error).toMatchObject({ failure: 'credentials', status: { code: 503 } })
  expect(JSON.stringify(error.status)).not.toMatch(/hunter2|PRIVATE|LS0tLS/)
  return error.status.message.replace('virtual cluster "p-shop/dev" has unusable credentials: ', '')
}

describe('a kube config', () => {
  test('is accepted with a token', async () => {
    const expected = { server, certificateAuthority: authority.certificate, token: SECRET }
    expect(await parse(config())).toEqual(expected)
    expect(await parse(await dumpYaml(config()))).toEqual(expected)
  })

  test('is accepted with a client certificate', async () => {
    const { clientCertificate, ...rest } = await parse(config(withCertificate(pair)))
    expect(rest).toEqual({ server, certificateAuthority: authority.certificate })
    expect(clientCertificate?.certificate).toBe(pair.certificate)
    expect(clientCertificate?.key).toBe(pair.key)
  })

  test('trusts the public authorities without its own', async () => {
    const parsed = await parse(config(({ clusters }) => delete clusters[0].cluster['certificate-authority-data']))
    expect(parsed).toEqual({ server, token: SECRET })
  })

  test('is read by its current context', async () => {
    const parsed = await parse(
      config(({ clusters, users, contexts }) => {
        clusters.unshift({ name: 'c2', cluster: { server: 'https://other.example.com' } })
        users.unshift({ name: 'u2', user: { token: 'other' } })
        contexts.unshift({ name: 'x2', context: { cluster: 'c2', user: 'u2' } })
      }),
    )
    expect(parsed).toMatchObject({ server, token: SECRET })
  })
})

// threat: virtual-1
describe('errors name the member', () => {
  test.each<[string, (parts: Loose) => void]>([
    ['users[0].user.exec is not accepted', user({ exec: { command: SECRET } })],
    ['users[0].user.auth-provider is not accepted', user({ 'auth-provider': {} })],
    ['users[0].user.tokenFile is not accepted', user({ tokenFile: '/etc/passwd' })],
    ['users[0].user.client-certificate is not accepted', user({ 'client-certificate': '/x' })],
    ['users[0].user.client-key is not accepted', user({ 'client-key': '/x' })],
    ['users[0].user.username is not accepted', user({ username: 'a', password: SECRET })],
    ['users[0].user.as is not accepted', user({ as: 'root' })],
    ['users[0].user.constructor is not accepted', user({ constructor: {} })],
    ['clusters[0].cluster.insecure-skip-tls-verify is not accepted', cluster({ 'insecure-skip-tls-verify': false })],
    [
      'clusters[0].cluster.certificate-authority is not accepted',
      ({ clusters }) => Object.assign(clusters[0].cluster, { 'certificate-authority': '/x' }),
    ],
    ['clusters[0].cluster.proxy-url is not accepted', cluster({ 'proxy-url': 'http://x' })],
    ['clusters[0].cluster.tls-server-name is not accepted', cluster({ 'tls-server-name': 'x' })],
    ['clusters[0].cluster.extensions is not accepted', cluster({ extensions: [] })],
    ['contexts[0].context.extensions is not accepted', context({ extensions: [] })],
    ['extensions is not accepted', top({ extensions: [] })],
    ['preferences is not accepted', ({ preferences }) => Object.assign(preferences, { colors: true })],
    ['(a member) is not accepted', top({ [`${SECRET}${SECRET}${SECRET}${SECRET}`]: 1 })],
    ['users[1].user.exec is not accepted', ({ users }) => users.push({ name: 'unused', user: { exec: {} } })],
    ['kind is not Config', top({ kind: 'Secret' })],
    ['apiVersion is not v1', top({ apiVersion: 'v2' })],
    ['current-context names no entry', (parts) => delete parts['current-context']],
    ['current-context names no entry', top({ 'current-context': 'toString' })],
    ['contexts[0].context.cluster names no entry', ({ contexts }) => delete contexts[0].context.cluster],
    ['contexts[0].context.user names two entries', ({ users }) => users.push({ name: 'u', user: {} })],
    ['users is not a list', top({ users: {} })],
    ['users[0] is not an object', top({ users: ['u'] })],
    ['users[0].user is not an object', ({ users }) => Object.assign(users[0], { user: SECRET })],
    ['users[0].user.token is not a string', user({ token: 7 })],
    ['users[0].user.token is not a bearer token', user({ token: `${SECRET}\r\nHost: x` })],
    ['users[0].user.client-certificate-data is missing, and so is a token', ({ users }) => delete users[0].user.token],
    ['users[0].user.token cannot be combined with a client certificate', user({ 'client-key-data': 'AAAA' })],
    ['clusters[0].cluster.server is missing', ({ clusters }) => delete clusters[0].cluster.server],
    [
      'clusters[0].cluster.certificate-authority-data is not base64',
      ({ clusters }) => Object.assign(clusters[0].cluster, { 'certificate-authority-data': authority.certificate }),
    ],
    [
      'clusters[0].cluster.certificate-authority-data holds no certificate',
      ({ clusters }) => Object.assign(clusters[0].cluster, { 'certificate-authority-data': toBase64(SECRET) }),
    ],
  ])('of a kube config: %s', async (message, change) => expect(await refusal(config(change))).toBe(message))

  test.each(cases.noServers)('of the server %j', async (url) => {
    const message = await refusal(config(({ clusters }) => Object.assign(clusters[0].cluster, { server: url })))
    expect(message).toBe('clusters[0].cluster.server is not an absolute https URL')
  })

  test('of a key that does not match its certificate', async () => {
    const mixed = withCertificate({ certificate: pair.certificate, key: other.key })
    expect(await refusal(config(mixed))).toBe('users[0].user.client-key-data does not belong to the client certificate')
    const none = withCertificate({ certificate: pair.certificate, key: SECRET })
    expect(await refusal(config(none))).toBe('users[0].user.client-key-data holds no private key')
    const swapped = withCertificate({ certificate: pair.key, key: pair.key })
    expect(await refusal(config(swapped))).toBe('users[0].user.client-certificate-data holds no certificate')
  })

  test('of a duplicate member', async () => {
    const text = JSON.stringify(config()).replace('"kind":"Config"', '"kind":"Config","kind":"Config"')
    expect(await refusal(text)).toBe('the secret has a duplicate member')
  })

  test('of a member __proto__', async () => {
    const text = JSON.stringify(config()).replace('"token":', '"__proto__":{"exec":1},"token":')
    expect(await refusal(text)).toMatch(/is not accepted$|is neither JSON nor YAML$/)
  })

  test.each<[string, string]>([
    ['', 'the secret is not an object'],
    ['null', 'the secret is not an object'],
    ['[]', 'the secret is not an object'],
    [SECRET, 'the secret is not an object'],
    ['{', 'the secret is neither JSON nor YAML'],
    [`a: [${SECRET}`, 'the secret is neither JSON nor YAML'],
    ['x'.repeat(65_537), 'the secret has more than 65536 characters'],
    ['{}', 'kind is not Config'],
  ])('or the problem of the text %.20j', async (text, message) => expect(await refusal(text)).toBe(message))

  // threat: virtual-1
  test('and never quote the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((json) => `{"config":${json}}`),
          fc.constant(JSON.stringify(config())),
        ),
        fc.nat(),
        async (text, place) => {
          const at = place % (text.length + 1)
          const error = await parse(`${text.slice(0, at)}${SECRET}${text.slice(at)}`, server).catch((reason) => reason)
          if (!(error instanceof Error)) return
          expect(error).toBeInstanceOf(ClusterError)
          expect(JSON.stringify((error as ClusterError).status)).not.toContain(SECRET)
        },
      ),
    )
  })
})

describe('the fields written by vcluster', () => {
  const fields = () => ({
    'certificate-authority': authority.certificate,
    'client-certificate': pair.certificate,
    'client-key': pair.key,
  })
  const expectedFields = () => ({
    server,
    certificateAuthority: authority.certificate,
    clientCertificate: { certificate: pair.certificate, key: pair.key },
  })
  const encodeAll = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, toBase64(value)]))

  test('are accepted as text and base64, with the instance’s address', async () => {
    expect(await parse(fields(), server)).toEqual(expectedFields())
    expect(await parse(encodeAll(fields()), server)).toEqual(expectedFields())
    expect(await parse(await dumpYaml(fields()), server)).toEqual(expectedFields())
  })

  test('are ignored if config is present', async () => {
    const text = await dumpYaml(config())
    const token = { server, certificateAuthority: authority.certificate, token: SECRET }
    expect(await parse({ ...fields(), config: text }, 'https://elsewhere.example.com')).toEqual(token)
    expect(await parse(encodeAll({ ...fields(), config: text }))).toEqual(token)
  })

  test('are rejected by name', async () => {
    expect(await refusal({ ...fields(), extra: SECRET })).toBe('extra is not accepted')
    expect(await refusal({ ...fields(), 'client-key': undefined })).toBe('client-key is missing')
    expect(await refusal({ ...fields(), 'client-key': '%%%' })).toBe('client-key is neither PEM nor base64')
    expect(await refusal({ ...fields(), 'client-certificate': 1 })).toBe('client-certificate is not a string')
    expect(await refusal({ config: config(user({ exec: {} })) })).toBe('config is not a string')
    const bad = JSON.stringify(config(user({ exec: {} })))
    expect(await refusal({ config: bad })).toBe('config.users[0].user.exec is not accepted')
    expect(await refusal({ config: toBase64(bad) })).toBe('config.users[0].user.exec is not accepted')
  })

  test('require an address', () => expect(parse(fields())).rejects.toThrow('server is missing'))
})
