import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Destinations,
  privateDestinations,
  publicDestinations,
} from '../../../../lib/engine/outbound/addresses.ts'
import { sendHttps } from '../../../../lib/engine/outbound/https.ts'
import { unlimited } from '../../../support/deadlines.ts'
import { type Authority, SERVER_AUTH, testAuthority } from '../../clusters/authority.ts'
import { type FaultyCluster, startFaultyCluster } from '../../clusters/faultycluster.ts'

let authority: Authority
let server: FaultyCluster
let port: string

beforeAll(async () => {
  authority = await testAuthority()
  server = await startFaultyCluster({
    authority,
    server: await authority.pair({ names: ['issuer.test', '127.0.0.1'], usages: [SERVER_AUTH] }),
  })
  port = new URL(server.url).port
})
afterAll(() => server.close())

/** Names that resolve to these addresses; loopback is allowed. */
function resolving(
  names: Record<string, readonly string[]>,
  allows: Destinations['allows'] = (address) => address.startsWith('127.'),
) {
  const asked: string[] = []
  const destinations: Destinations = {
    allows,
    async resolve(host) {
      asked.push(host)
      const found = names[host] ?? []
      return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  }
  return { asked, destinations }
}

const send = (url: string, destinations?: Destinations, maxBytes = 10_000) =>
  sendHttps({
    url: new URL(url),
    method: 'GET',
    signal: unlimited(),
    maxBytes,
    certificateAuthority: authority.certificate,
    ...(destinations && { destinations }),
  })

describe('a request with limited destinations', () => {
  // threat: exchange-16
  test('dials the address that was checked, under the name of the URL', async () => {
    const { asked, destinations } = resolving({ 'issuer.test': ['127.0.0.1'] })
    expect(await send(`https://issuer.test:${port}/`, destinations)).toMatchObject({ status: 401 })
    expect(asked).toEqual(['issuer.test'])
  })

  // threat: exchange-16
  test('resolves a name once, so that no second answer replaces the checked one', async () => {
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    let count = 0
    const checked: string[] = []
    const destinations: Destinations = {
      allows: (address) => checked.push(address) > 0 && address.startsWith('127.'),
      resolve: async () => (answers[count++] ?? []).map((address) => ({ address, family: 4 })),
    }
    expect(await send(`https://issuer.test:${port}/`, destinations)).toMatchObject({ status: 401 })
    expect([count, checked]).toEqual([1, ['127.0.0.1']])
  })

  test.each([
    ['only refused ones', ['10.0.0.1']],
    ['a refused one first', ['10.0.0.1', '127.0.0.1']],
    ['a refused one last', ['127.0.0.1', '::1']],
    ['none', []],
  ])('fails if a name has %s', async (_, addresses) => {
    const { destinations } = resolving({ 'issuer.test': addresses })
    await expect(send(`https://issuer.test:${port}/`, destinations)).rejects.toMatchObject({ failure: 'unroutable' })
  })

  test.each([publicDestinations, privateDestinations])('reaches no loopback name', async (real) => {
    await expect(send(`https://localhost:${port}/`, real)).rejects.toMatchObject({
      failure: 'unroutable',
      cause: { message: 'requests to this address are not allowed' },
    })
  })

  test.each(['127.0.0.1', '127.1', '2130706433', '[::ffff:127.0.0.1]'])(
    'refuses %s without a lookup, even if the address is allowed',
    async (host) => {
      const { asked, destinations } = resolving({}, () => true)
      await expect(send(`https://${host}:${port}/`, destinations)).rejects.toMatchObject({ failure: 'unroutable' })
      expect(asked).toEqual([])
    },
  )

  test('reports a failed lookup', async () => {
    const destinations: Destinations = {
      allows: () => true,
      resolve: async () => {
        throw Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
      },
    }
    await expect(send('https://issuer.test/', destinations)).rejects.toMatchObject({ failure: 'unknown-host' })
  })

  test('times out while a name is looked up', async () => {
    const destinations: Destinations = { allows: () => true, resolve: () => new Promise(() => {}) }
    const controller = new AbortController()
    const answer = sendHttps({
      url: new URL('https://issuer.test/'),
      method: 'GET',
      signal: controller.signal,
      maxBytes: 1000,
      destinations,
    })
    controller.abort()
    await expect(answer).rejects.toMatchObject({ failure: 'timeout' })
  })
})

describe('a request', () => {
  test('goes anywhere without destinations', async () => expect(await send(server.url)).toMatchObject({ status: 401 }))
  test('ends when its answer exceeds the limit', () =>
    expect(send(server.url, undefined, 100)).rejects.toMatchObject({ failure: 'too-large' }))
  test('ignores proxies of the environment', async () => {
    const module = new URL('../../../../lib/engine/outbound/https.ts', import.meta.url).href
    const script = `
      import { request } from 'node:https'
      import { sendHttps } from ${JSON.stringify(module)}
      const url = new URL(process.env.TARGET)
      const { signal } = new AbortController()
      const certificateAuthority = process.env.AUTHORITY
      const answer = await sendHttps({ url, method: 'GET', signal, maxBytes: 10000, certificateAuthority })
      // A usual request goes to the proxy, which does not exist.
      const usual = await new Promise((resolve) => request(url, resolve).on('error', resolve).end())
      console.log(answer.status, usual.code)
    `
    const proxy = 'http://127.0.0.1:1'
    const env = {
      ...process.env,
      TARGET: server.url,
      AUTHORITY: authority.certificate,
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxy,
      https_proxy: proxy,
    }
    const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
    expect((await run).stdout).toBe('401 ECONNREFUSED\n')
  })
})
