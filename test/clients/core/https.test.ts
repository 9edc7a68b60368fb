/** The limit of a request whose server says nothing, and proxies that give no connection. */

import { once } from 'node:events'
import { Agent } from 'node:https'
import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { sendHttps } from '../../../clients/core/src/https.ts'
import { leftOutProxy, networkFailure } from '../../../clients/core/src/networkfailure.ts'
import { listening } from '../../support/listening.ts'

afterEach(() => void vi.useRealTimers())

test('a request ends after 45 seconds with a server that accepts the connection and says nothing, not even for TLS', async () => {
  const server = createServer(() => {})
  const { port, stop } = await listening(server)
  const url = new URL(`https://127.0.0.1:${port}`)
  const connected = once(server, 'connection')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { signal } = new AbortController()
  let failed: unknown
  const answered = sendHttps({ url, method: 'GET', headers: {}, signal, mostMebibytes: 1 }).catch((error: unknown) => {
    failed = error
  })
  const [socket] = await connected
  await vi.advanceTimersByTimeAsync(44_000)
  expect(failed).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1000)
  await new Promise((resolve) => setImmediate(resolve))
  const after = failed
  socket.destroy()
  await stop()
  await answered
  expect(after).toMatchObject({ code: 'ETIMEDOUT' })
})

test('a request with a header that cannot be sent leaves no limit that keeps the process alive', async () => {
  await import('node:https')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const { signal } = new AbortController()
  const url = new URL('https://127.0.0.1:1')
  const headers = { authorization: 'Bearer a\nb' }
  await expect(sendHttps({ url, method: 'GET', headers, signal, mostMebibytes: 1 })).rejects.toThrow()
  expect(vi.getTimerCount()).toBe(0)
})

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example:3128' }, undefined],
  [{ HTTPS_PROXY: 'http://proxy.example', ALL_PROXY: 'socks5://proxy.example' }, undefined],
  [
    { https_proxy: 'socks5://me:secret@proxy.example' },
    /^https_proxy names socks5:\/\/, a proxy that Node\.js does not speak/,
  ],
  [{ ALL_PROXY: 'socks5h://me:secret@proxy.example' }, /^ALL_PROXY names socks5h:\/\/, /],
  [
    { all_proxy: 'http://me:secret@proxy.example' },
    /^Node\.js does not use all_proxy\. Name the proxy in HTTPS_PROXY\.$/,
  ],
  [{ HTTPS_PROXY: 'nonsense' }, /^HTTPS_PROXY names nothing that is a URL, /],
])('the proxy of %j is named if Node.js leaves it out', (env, said) => {
  const sentence = leftOutProxy(env)
  if (said === undefined) expect(sentence).toBe(undefined)
  else expect(sentence).toMatch(said)
  expect(sentence ?? '').not.toContain('secret')
})

describe('a proxy', () => {
  /** Returns what a client says about a request to a host behind the proxy of this URL. */
  async function failureBehind(proxy: string, url = 'https://keys.invalid/kubernetes/management') {
    const env = { https_proxy: proxy }
    const agent = new Agent({ proxyEnv: env })
    const { signal } = new AbortController()
    const asked = { url: new URL(url), method: 'GET', headers: {}, signal, agent, mostMebibytes: 1 }
    const error = await sendHttps(asked).catch((reason: unknown) => reason)
    agent.destroy()
    return networkFailure(error, asked.url.host, env)
  }

  /** Runs `act` with the address of a proxy that treats connections like this. */
  async function withProxy<T>(treat: (socket: Socket) => void, act: (host: string) => Promise<T>): Promise<T> {
    const server = createServer((socket) => void socket.on('error', () => {}).on('data', () => treat(socket)))
    const { port } = await listening(server)
    return act(`127.0.0.1:${port}`).finally(() => server.close())
  }

  // threat: cli-3
  test('that is dead is named, and not the host behind it', async () => {
    expect(await failureBehind('http://me:hunter2@127.0.0.1:1')).toEqual({
      kind: 'proxy',
      text: 'Nothing listens at the proxy 127.0.0.1:1.',
      isPassing: true,
    })
    expect(await failureBehind('http://proxy.invalid:3128')).toEqual({
      kind: 'proxy',
      text: 'The host of the proxy proxy.invalid:3128 cannot be found.',
      isPassing: false,
    })
  })

  // threat: cli-3
  test.each([
    ['403 Forbidden', ': it answered 403', false],
    ['407 Proxy Authentication Required', ': it answered 407', false],
    ['502 Bad Gateway', ': it answered 502', true],
    [undefined, '', true],
  ])('that answers %s is named, and not its password', async (answer, why, isPassing) => {
    const treat = (socket: Socket) => void socket.end(answer === undefined ? '' : `HTTP/1.1 ${answer}\r\n\r\n`)
    const [text, failure] = await withProxy(treat, async (host) => [
      `The proxy ${host} gives no connection to keys.invalid${why}.`,
      await failureBehind(`http://me:hunter2@${host}`),
    ])
    expect(failure).toEqual({ kind: 'proxy', text, isPassing })
  })

  test('is not named for a host that is dead without it', () => {
    const refused = (port: number, address = '127.0.0.1') =>
      Object.assign(new Error('refused'), { code: 'ECONNREFUSED', port, address })
    const env = { HTTPS_PROXY: 'http://proxy.example:3128' }
    expect(networkFailure(refused(443), 'keys.example', env).kind).toBe('notListening')
    expect(networkFailure(refused(3128), 'keys.example:3128', env).kind).toBe('notListening')
    expect(networkFailure(refused(3128), 'keys.example', env).kind).toBe('proxy')
    expect(networkFailure(refused(3128), 'keys.example', {}).kind).toBe('notListening')
    expect(networkFailure(refused(3128), 'keys.example', { https_proxy: 'nonsense' }).kind).toBe('notListening')
    const unknown = Object.assign(new Error('?'), { code: 'ENOTFOUND', hostname: 'keys.example' })
    expect(networkFailure(unknown, 'keys.example', env).kind).toBe('unknownHost')
  })
})
