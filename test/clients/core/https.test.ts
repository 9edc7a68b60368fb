/** The limit of a request whose server says nothing. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { sendHttps } from '../../../clients/core/src/https.ts'

afterEach(() => void vi.useRealTimers())

test('a request ends after 45 seconds with a server that accepts the connection and says nothing, not even for TLS', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
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
  server.close()
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
