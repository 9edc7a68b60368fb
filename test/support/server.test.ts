/** Tests the server for tests itself. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { freePort } from '../../infra/local/host/freeport.ts'
import { startServer } from './server.ts'

test('starts on another port when the first one is taken meanwhile', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port: taken } = other.address() as AddressInfo
  const ports = [taken]
  const { AWS_ENDPOINT_URL_DYNAMODB: before } = process.env
  const server = await startServer({}, { choosePort: async () => ports.shift() ?? freePort() })
  try {
    expect(server.base).not.toContain(String(taken))
    expect(server.environment.ISSUER).toBe(server.base)
    expect((await server.call('/version')).status).toBe(200)
  } finally {
    await server.stop()
    other.close()
  }
  expect(process.env.AWS_ENDPOINT_URL_DYNAMODB).toBe(before)
})

test('fails when no port is free', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const starting = startServer({}, { choosePort: async () => port })
  await expect(starting).rejects.toMatchObject({ code: 'EADDRINUSE' })
  other.close()
})
