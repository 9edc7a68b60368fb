/** Finds free ports on 127.0.0.1. */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { StartupError } from './startuperror.ts'

/** Returns `port`, or any free port for 0. Throws a StartupError when the port is in use. */
export async function freePort(port = 0): Promise<number> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    const taken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
    throw new StartupError(
      taken
        ? `Port ${port} of 127.0.0.1 is taken: stop what uses it, or name another one in PORT.`
        : `Port ${port} of 127.0.0.1 cannot be used (${(error as NodeJS.ErrnoException).code}): name another one in PORT.`,
      error,
    )
  }
  const { port: found } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return found
}
