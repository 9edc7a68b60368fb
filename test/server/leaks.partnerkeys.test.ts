/** Tests the signatures of GitHub's reports: its published example, and a server of keys that rotates them, hangs and lies. */
import { sign } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { publicDestinations } from '../../lib/outbound/addresses.ts'
import { createPartnerKeys, type PartnerKeysDeps } from '../../lib/server/leaks/partnerkeys.ts'
import { unlimited } from '../support/deadlines.ts'
import { type KeyServer, listOf, makeSigningKey, signedBy, startKeyServer } from '../support/partnerkeys.ts'

/**
 * Examples of GitHub's documentation ("Secret scanning partner program") of 2022 and of today, with the keys that GitHub
 * published under these identifiers.
 */
const published = [
  {
    id: '90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a',
    key: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq\nkCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==',
    payload: '[{"token":"some_token","type":"some_type","url":"some_url"}]',
    signature: 'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc=',
  },
  {
    id: 'bcb53661c06b4728e59d897fb6165d5c9cda0fd9cdf9d09ead458168deb7518c',
    key: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEYAGMWO8XgCamYKMJS6jc/qgvSlAd\nAjPuDPRcXU22YxgBrz+zoN19MzuRyW87qEt9/AmtoNP5GrobzUvQSyJFVw==',
    payload: '[{"source":"commit","token":"some_token","type":"some_type","url":"https://example.com/base-repo-url/"}]',
    signature: 'MEQCIQDaMKqrGnE27S0kgMrEK0eYBmyG0LeZismAEz/BgZyt7AIfXt9fErtRS4XaeSt/AO1RtBY66YcAdjxji410VQV4xg==',
  },
]
const pemOf = (body: string) => `-----BEGIN PUBLIC KEY-----\n${body}\n-----END PUBLIC KEY-----\n`

const body = Buffer.from('[{"token":"a"}]')

let server: KeyServer
let now = 0
let failures: string[] = []

beforeAll(async () => {
  server = await startKeyServer()
})
afterAll(() => server?.close())
beforeEach(() => {
  server.requests = []
  failures = []
  now = 1_795_257_600_000
})

const minutes = (count: number) => {
  now += count * 60_000
}

const createKeys = (more: Partial<PartnerKeysDeps> = {}) =>
  createPartnerKeys({
    ...server.access,
    timeout: unlimited,
    now: () => now,
    failed: (error) => failures.push(String(error)),
    ...more,
  })

describe("GitHub's published example", () => {
  test.each(published)('of the key $id verifies, and no other bytes do', async ({ id, key, payload, signature }) => {
    server.serve(
      listOf(...published.map((one) => ({ key_identifier: one.id, key: pemOf(one.key), is_current: false }))),
    )
    expect(pemOf(key)).toContain('MFkwEwYH')
    const keys = createKeys()
    const headers = { 'github-public-key-identifier': id, 'github-public-key-signature': signature }
    expect(await keys.reporterOf(Buffer.from(payload), headers)).toBe('github')
    for (const other of [`${payload} `, payload.replace('some', 'Some'), '', payload.slice(0, -1)])
      expect([other, await keys.reporterOf(Buffer.from(other), headers)]).toEqual([other, 'anybody'])
    expect(server.requests).toHaveLength(1)
  })
})

describe('a report', () => {
  test('without a whole signature is unsigned, and costs no request', async () => {
    const headers = signedBy(makeSigningKey(), body)
    const { 'github-public-key-identifier': id, 'github-public-key-signature': signature } = headers
    const keys = createKeys()
    for (const wrong of [
      {},
      { 'github-public-key-identifier': id },
      { 'github-public-key-signature': signature },
      { ...headers, 'github-public-key-signature': '' },
      { ...headers, 'github-public-key-signature': `${signature}, ${signature}` },
      { ...headers, 'github-public-key-signature': `${signature}*` },
      { ...headers, 'github-public-key-identifier': '' },
      { ...headers, 'github-public-key-identifier': `${id}, ${id}` },
      { ...headers, 'github-public-key-identifier': 'x'.repeat(129) },
    ])
      expect(await keys.reporterOf(body, wrong)).toBe('anybody')
    expect(server.requests).toHaveLength(0)
  })

  test('signed with another key under the id of a known one is unsigned', async () => {
    const [known, forger] = [makeSigningKey(), makeSigningKey()]
    server.serve(listOf(known.listed))
    const keys = createKeys()
    expect(await keys.reporterOf(body, signedBy({ id: known.id, privateKey: forger.privateKey }, body))).toBe('anybody')
    expect(await keys.reporterOf(body, { ...signedBy(known, body), 'github-public-key-identifier': '__proto__' })).toBe(
      'anybody',
    )
    const raw = sign('sha256', body, { key: known.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64')
    expect(await keys.reporterOf(body, { ...signedBy(known, body), 'github-public-key-signature': raw })).toBe(
      'anybody',
    )
    expect(await keys.reporterOf(body, signedBy(known, body))).toBe('github')
  })
})

describe('the keys', () => {
  test('are fetched once an hour, and only if they have changed', async () => {
    const key = makeSigningKey()
    server.respond = ({ headers }, response) => {
      if (headers['if-none-match'] === '"one"') return void response.writeHead(304, { ETag: '"one"' }).end()
      response.writeHead(200, { ETag: '"one"' }).end(listOf(key.listed))
    }
    const keys = createKeys()
    await Promise.all(Array.from({ length: 8 }, () => keys.reporterOf(body, signedBy(key, body))))
    minutes(59)
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('github')
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined])
    minutes(2)
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('github')
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, '"one"'])
    expect(failures).toEqual([])
  })

  test('are fetched again for an unknown id, but only every five minutes', async () => {
    const [before, after] = [makeSigningKey(), makeSigningKey()]
    server.serve(listOf(before.listed))
    const keys = createKeys()
    expect(await keys.reporterOf(body, signedBy(before, body))).toBe('github')
    server.serve(listOf(after.listed))
    for (let count = 0; count < 20; count++) expect(await keys.reporterOf(body, signedBy(after, body))).toBe('anybody')
    expect(server.requests).toHaveLength(1)
    minutes(5)
    expect(await keys.reporterOf(body, signedBy(after, body))).toBe('github')
    expect(await keys.reporterOf(body, signedBy(before, body))).toBe('anybody')
    expect(server.requests).toHaveLength(2)
  })

  test('that cannot be fetched leave the source unknown, and known ones in force for their hour', async () => {
    const key = makeSigningKey()
    server.serve('', {}, 500)
    const keys = createKeys()
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('unknown')
    server.serve(listOf(key.listed))
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('unknown')
    minutes(5)
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('github')
    server.serve('', {}, 500)
    minutes(59)
    expect(await keys.reporterOf(body, signedBy(makeSigningKey(), body))).toBe('anybody')
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('github')
    minutes(2)
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('unknown')
    minutes(5)
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('unknown')
    expect(failures).toHaveLength(3)
  })

  test('of a server that hangs are given up', async () => {
    const controller = new AbortController()
    server.respond = () => controller.abort()
    let limit = 0
    const keys = createKeys({
      timeout(ms) {
        limit = ms
        return controller.signal
      },
    })
    expect(await keys.reporterOf(body, signedBy(makeSigningKey(), body))).toBe('unknown')
    expect([limit, failures]).toEqual([2000, ['OutboundError: timeout']])
  })

  const key = makeSigningKey()
  const secret = 'text of the other side'
  test.each<[string, string, Record<string, string>?, number?]>([
    ['no JSON', `${listOf(key.listed)}${secret}`],
    ['a member twice', '{"public_keys":[],"public_keys":[]}'],
    ['another form', JSON.stringify([key.listed])],
    ['no keys', listOf()],
    ['too many keys', listOf(...Array(51).fill(key.listed))],
    ['a key that is none', listOf(key.listed, { ...key.listed, key: secret })],
    ['a key of another curve', listOf(makeSigningKey('P-384').listed)],
    ['a key without an id', listOf({ ...key.listed, key_identifier: 7 })],
    ['more than 64 KiB', listOf(key.listed) + ' '.repeat(65_536)],
    ['a redirect', listOf(key.listed), { Location: '/elsewhere' }, 302],
    ['304 without being asked', '', { ETag: '"one"' }, 304],
  ])('of a server that answers %s are not used, and its text is in no error', async (_, text, headers, status) => {
    server.serve(text, headers, status)
    const keys = createKeys()
    expect(await keys.reporterOf(body, signedBy(key, body))).toBe('unknown')
    expect(server.requests).toHaveLength(1)
    expect(failures).toHaveLength(1)
    expect(failures.join()).not.toContain(secret)
  })

  test('are fetched from no private address, whatever the setting says', async () => {
    server.serve(listOf(key.listed))
    const { port } = server
    for (const url of [
      `https://127.0.0.1:${port}/keys`,
      `https://localhost:${port}/keys`,
      'https://169.254.169.254/',
    ]) {
      const keys = createKeys({ url, destinations: publicDestinations })
      expect([url, await keys.reporterOf(body, signedBy(key, body))]).toEqual([url, 'unknown'])
    }
    expect(server.requests).toHaveLength(0)
    expect(failures).toEqual(Array(3).fill('OutboundError: unroutable'))
  })
})
