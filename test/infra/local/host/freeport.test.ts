import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort, reservePort } from '../../../../infra/local/host/freeport.ts'
import { StartupError } from '../../../../infra/local/host/startuperror.ts'

const open: { close(): void }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

async function listen(port: number, host: string): Promise<Server> {
  const server = createServer().listen(port, host)
  open.push(server)
  await once(server, 'listening')
  return server
}

const portOf = (server: Server) => (server.address() as AddressInfo).port

describe('a reserved port', () => {
  test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('cannot be taken on %s before it is released', async (host) => {
    const { port, release } = await reservePort()
    await expect(listen(port, host)).rejects.toMatchObject({ code: 'EADDRINUSE' })
    release()
    expect(portOf(await listen(port, host))).toBe(port)
  })

  test('can be released twice, also when another listens meanwhile', async () => {
    const { port, release } = await reservePort()
    release()
    const server = await listen(port, '127.0.0.1')
    release()
    expect(server.listening).toBe(true)
  })

  test('is the port that was asked for', async () => {
    const wanted = await freePort()
    const { port, release } = await reservePort(wanted)
    release()
    expect(port).toBe(wanted)
  })

  test('ends connections of clients that come too early', async () => {
    const { port, release } = await reservePort()
    open.push({ close: release })
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow('fetch failed')
  })
})

describe('a port that is taken', () => {
  test.each(['127.0.0.1', '::1'])('on %s is named', async (host) => {
    const port = portOf(await listen(0, host))
    const words = `Port ${port} of ${host} is taken: stop what uses it, or name another one in PORT.`
    await expect(reservePort(port)).rejects.toEqual(new StartupError(words))
    // Nothing of the attempt is left.
    await listen(port, host === '::1' ? '127.0.0.1' : '::1')
  })
})
