/** Finds free ports on loopback addresses. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { StartupError } from './startuperror.ts'

export interface ReservedPort {
  port: number
  /** Lets others listen on the port. Call it right before: until then nobody else can take the port. */
  release(): void
}

/** The errors of a machine without IPv6. */
export const WITHOUT_IPV6: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT']

/**
 * Reserves `wanted`, or any free port for 0, on 127.0.0.1 and, if the machine has it, on ::1. For servers that must know their
 * port long before they listen. Throws a StartupError when the port is in use.
 */
export async function reservePort(wanted = 0): Promise<ReservedPort> {
  const server = await occupy(wanted, '127.0.0.1').catch(refuse(wanted, '127.0.0.1'))
  const { port } = server.address() as AddressInfo
  try {
    const server6 = await occupy(port, '::1')
    return {
      port,
      release() {
        server.close()
        server6.close()
      },
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (WITHOUT_IPV6.includes(code)) return { port, release: () => server.close() }
    server.close()
    return wanted === 0 && code === 'EADDRINUSE' ? reservePort() : refuse(port, '::1')(error)
  }
}

/** Returns a port that is free on 127.0.0.1 now, for a program that takes its port as an argument. Others can take it before. */
export async function freePort(): Promise<number> {
  const server = await occupy(0, '127.0.0.1')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

async function occupy(port: number, host: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy()).listen(port, host)
  await once(server, 'listening')
  return server
}

/** Returns a function that throws a StartupError for an error of listening. */
const refuse =
  (port: number, host: string) =>
  (error: unknown): never => {
    const { code } = error as NodeJS.ErrnoException
    throw new StartupError(
      code === 'EADDRINUSE'
        ? `Port ${port} of ${host} is taken: stop what uses it, or name another one in PORT.`
        : `Port ${port} of ${host} cannot be used (${code}): name another one in PORT.`,
      error,
    )
  }
