/** Tests fetching keys from a real issuer over TLS. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { privateDestinations, publicDestinations } from '../../../lib/engine/outbound/addresses.ts'
import { fetchKeys } from '../../../lib/federation/discovery.ts'
import { type IssuerDocument, type IssuerFault, startIssuer, type TestIssuer } from '../../support/issuer.ts'
import { makeIssuerKey } from '../../support/issuerkey.ts'
import cases from './vectors/discovery.cases.json' with { type: 'json' }

let issuer: TestIssuer
/** The time limits that were asked for. */
let limits: number[]
/** Ends all limits. Until a test calls its `abort`, none does. */
let over: AbortController

beforeAll(async () => {
  issuer = await startIssuer({ alg: 'ES256' })
})
afterAll(() => issuer.close())
beforeEach(() => {
  issuer.faults = {}
  issuer.texts = {}
  issuer.headers = {}
  issuer.requests = { discovery: 0, keys: 0, other: 0 }
  issuer.beforeAnswer = () => undefined
  issuer.dripped = () => undefined
  issuer.discoveryPath = '/.well-known/openid-configuration'
  issuer.documents.discovery = { issuer: issuer.url, jwks_uri: `${issuer.url}/keys` }
  issuer.rotate({ kid: 'one' })
  limits = []
  over = new AbortController()
})

const deps = () => ({
  destinations: issuer.destinations,
  certificateAuthority: issuer.certificateAuthority,
  timeout(ms: number) {
    limits.push(ms)
    return over.signal
  },
})
const fetched = (source: { issuer?: string; jwksURI?: string } = {}) =>
  fetchKeys(deps(), { issuer: issuer.url, ...source })

/** Expects a failure whose text quotes nothing of the answer. */
async function expectFailure(answer: Promise<unknown>, message: string | RegExp): Promise<void> {
  const error = await answer.then(
    () => new Error('no failure'),
    (reason) => reason,
  )
  expect(error.message).toMatch(message)
  expect(`${error.message} ${error.cause}`).not.toMatch(/hunter2|key-one/)
}

describe('fetching keys', () => {
  test('reads discovery, then the key set, with no credentials', async () => {
    const { keys, maxAgeSeconds } = await fetched()
    const { x, y } = issuer.key.jwk
    expect(keys).toEqual([{ kty: 'EC', crv: 'P-256', kid: 'one', alg: 'ES256', use: 'sig', x, y }])
    expect([maxAgeSeconds, issuer.requests]).toEqual([undefined, { discovery: 1, keys: 1, other: 0 }])
    expect(issuer.lastHeaders).toEqual({
      accept: 'application/json, application/jwk-set+json, */*;q=0.1',
      'accept-encoding': 'identity',
      'user-agent': 'keyplane',
      connection: 'close',
      host: new URL(issuer.url).host,
    })
  })

  test('allows 3 seconds for each request and 5 for both', async () => {
    await fetched()
    expect(limits).toEqual([5000, 3000, 3000])
  })

  test('reads only the key set when the provider names it', async () => {
    expect((await fetched({ issuer: 'https://elsewhere.test', jwksURI: `${issuer.url}/keys` })).keys).toHaveLength(1)
    expect(issuer.requests).toEqual({ discovery: 0, keys: 1, other: 0 })
  })

  test('follows the key set to another host', async () => {
    const jwksURI = `https://keys.issuer.test:${new URL(issuer.url).port}/keys`
    issuer.documents.discovery = { issuer: issuer.url, jwks_uri: jwksURI }
    expect((await fetched()).keys).toHaveLength(1)
  })

  test('finds discovery below an issuer that ends with a slash', async () => {
    issuer.documents.discovery = { issuer: `${issuer.url}/`, jwks_uri: `${issuer.url}/keys` }
    expect((await fetched({ issuer: `${issuer.url}/` })).keys).toHaveLength(1)
  })

  test.each([
    ['', '/.well-known/oauth-authorization-server'],
    ['/', '/.well-known/oauth-authorization-server'],
    ['/tenants/one', '/.well-known/oauth-authorization-server/tenants/one'],
    ['/tenants/one/', '/.well-known/oauth-authorization-server/tenants/one'],
  ])('finds the metadata of RFC 8414 of an issuer with the path %j, if there is no discovery', async (path, place) => {
    issuer.discoveryPath = place
    issuer.documents.discovery = { issuer: issuer.url + path, jwks_uri: `${issuer.url}/keys` }
    expect((await fetched({ issuer: issuer.url + path })).keys).toHaveLength(1)
    expect([issuer.requests, limits]).toEqual([{ discovery: 1, keys: 1, other: 1 }, [5000, 3000, 3000, 3000]])
  })

  // threat: exchange-17
  test('asks for the metadata of RFC 8414 only if discovery is a 404, and refuses that of another issuer', async () => {
    const one = `${issuer.url}/tenants/one`
    issuer.discoveryPath = '/tenants/one/.well-known/openid-configuration'
    issuer.faults.discovery = 'failing'
    await expectFailure(fetched({ issuer: one }), 'HTTP status 500')
    expect(issuer.requests).toEqual({ discovery: 1, keys: 0, other: 0 })
    issuer.faults = {}
    issuer.discoveryPath = '/.well-known/oauth-authorization-server/tenants/one'
    await expectFailure(fetched({ issuer: one }), 'names another issuer')
    issuer.discoveryPath = '/nowhere'
    await expectFailure(fetched({ issuer: one }), 'HTTP status 404')
  })

  test.each(cases.accepted)('accepts %s', async (type) => {
    issuer.headers = { 'Content-Type': type }
    expect((await fetched()).keys).toHaveLength(1)
  })

  test.each([
    ['max-age=300', 300],
    ['public, max-age=7200, must-revalidate', 7200],
    ['Max-Age="60"', 60],
    ['no-store', 0],
    ['no-cache, max-age=300', 0],
    ['max-age=-1', undefined],
    ['s-maxage=10', undefined],
    ['max-age=99999999999999', undefined],
  ])('understands Cache-Control: %s', async (header, seconds) => {
    issuer.headers = { 'Cache-Control': header }
    expect((await fetched()).maxAgeSeconds).toBe(seconds)
  })
})

describe.each(['discovery', 'keys'] as const)('the answer for %s', (document: IssuerDocument) => {
  // threat: exchange-18
  test.each<[IssuerFault, string | RegExp]>([
    ['failing', 'HTTP status 500'],
    ['redirect', 'HTTP status 302'],
    ['page', 'is not JSON'],
    ['wrong media type', 'is not JSON'],
    ['no JSON', /valid JSON/],
    ['gzip bomb', /compressed|too-large/],
    ['compressed', 'is compressed'],
    ['large', 'too-large'],
    ['endless', 'too-large'],
    ['reset', 'reset'],
  ])('fails when it is %s', async (fault, message) => {
    issuer.faults[document] = fault
    await expectFailure(fetched(), message)
  })

  // The issuer has the request when the time is over: one that came later would count for the next test.
  // threat: exchange-18
  test.each<IssuerFault>(['silent', 'slow'])('times out when it is %s', async (fault) => {
    issuer.faults[document] = fault
    if (fault === 'slow') issuer.dripped = (count) => count === 2 && over.abort()
    else issuer.beforeAnswer = (asked) => void (asked === document && setImmediate(() => over.abort()))
    await expectFailure(fetched(), 'timeout')
    expect(issuer.requests[document]).toBe(1)
  })

  // threat: exchange-18
  test('is not followed to where a redirect points', async () => {
    issuer.faults[document] = 'redirect'
    await expect(fetched()).rejects.toThrow()
    expect(issuer.requests[document]).toBe(1)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['a list', []],
    ['a text', 'hunter2'],
    ['an empty object', {}],
    ['nested too deeply', JSON.parse(`${'['.repeat(500)}${']'.repeat(500)}`)],
  ])('fails when it is %s', async (_, value) => {
    issuer.documents[document] = value
    await expectFailure(fetched(), /./)
  })
})

describe('a hostile discovery document', () => {
  const port = () => new URL(issuer.url).port
  // threat: exchange-17
  test.each<[string, () => unknown]>([
    ['another issuer', () => 'https://token.actions.githubusercontent.com'],
    ['the issuer with a slash', () => `${issuer.url}/`],
    ['the issuer in capitals', () => issuer.url.toUpperCase()],
    ['a list with the issuer', () => [issuer.url]],
    ['no issuer', () => undefined],
  ])('is refused when it names %s', async (_, name) => {
    issuer.documents.discovery = { issuer: name(), jwks_uri: `${issuer.url}/keys` }
    await expectFailure(fetched(), 'names another issuer')
    expect(issuer.requests.keys).toBe(0)
  })

  test.each<[string, () => unknown]>([
    ['plain HTTP', () => `http://issuer.test:${port()}/keys`],
    ['a file', () => 'file:///etc/passwd'],
    ['a user', () => `https://hunter2@issuer.test:${port()}/keys`],
    ['a password', () => `https://:hunter2@issuer.test:${port()}/keys`],
    ['another port', () => 'https://issuer.test:9001/keys'],
    ['a path', () => '/keys'],
    ['a number', () => 7],
    ['nothing', () => undefined],
  ])('is refused when jwks_uri is %s', async (_, uri) => {
    issuer.documents.discovery = { issuer: issuer.url, jwks_uri: uri() }
    await expectFailure(fetched(), 'jwks_uri')
  })

  test.each(cases.internal)('leads nowhere when jwks_uri is at %s', async (host) => {
    issuer.documents.discovery = { issuer: issuer.url, jwks_uri: `https://${host}:${port()}/keys` }
    await expectFailure(fetched(), 'unroutable')
    expect(issuer.requests.keys).toBe(0)
  })

  test.each([
    ['public', publicDestinations],
    ['private', privateDestinations],
  ])('leads to no name of this machine, with %s destinations', async (_, { allows }) => {
    const { resolve } = issuer.destinations
    const answer = fetchKeys(
      { ...deps(), destinations: { resolve, allows } },
      { issuer: 'https://elsewhere.test', jwksURI: `${issuer.url}/keys` },
    )
    await expectFailure(answer, 'unroutable')
    expect(issuer.requests.keys).toBe(0)
  })

  test('is refused when it has a member twice', async () => {
    const text = `{"issuer":"https://other","issuer":${JSON.stringify(issuer.url)},"jwks_uri":"${issuer.url}/keys"}`
    issuer.texts.discovery = text
    await expectFailure(fetched(), 'twice')
  })
})

describe('a key set', () => {
  const publish = (...keys: unknown[]) => {
    issuer.documents.keys = { keys }
  }

  test('with a private key is refused whole', async () => {
    const { privateKey } = issuer.key
    publish(issuer.key.jwk, { ...privateKey.export({ format: 'jwk' }), kid: 'key-one' })
    await expectFailure(fetched(), 'private')
  })

  test('with more than 100 keys is refused', async () => {
    publish(...Array(101).fill(issuer.key.jwk))
    await expectFailure(fetched(), 'at most 100 keys')
  })

  test('without keys has none', async () => {
    publish()
    expect(await fetched()).toEqual({ keys: [] })
  })

  test('loses entries that verify nothing, and keeps the others', async () => {
    const weak = { kty: 'RSA', kid: 'weak', n: Buffer.alloc(128, 255).toString('base64url'), e: 'AQAB' }
    const { jwk } = issuer.key
    publish(
      null,
      7,
      'key',
      {},
      weak,
      { ...jwk, use: 'enc' },
      { ...jwk, alg: 'HS256' },
      { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' },
      { kty: 'quantum' },
      jwk,
      makeIssuerKey('ES256', 'two').jwk,
    )
    expect((await fetched()).keys.map(({ kid }) => kid)).toEqual(['one', 'two'])
  })
})
