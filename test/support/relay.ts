/** Relays TCP connections to a server, so that a test can break them. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  port: number
  /** Breaks every connection at once. */
  cut(): void
  /** Refuses connections from now on, or accepts them again. */
  setClosed(isClosed: boolean): void
  stop(): Promise<void>
}

export async function startRelay(targetPort: number): Promise<Relay> {
  const sockets = new Set<Socket>()
  let isClosed = false
  const server = createServer((from) => {
    if (isClosed) return void from.on('error', () => {}).resetAndDestroy()
    const to = connect(targetPort, '127.0.0.1')
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      sockets.add(one)
      one.pipe(other)
      one
        .on('error', () => other.destroy())
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const one of sockets) one.resetAndDestroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    setClosed(closed) {
      isClosed = closed
      if (closed) cut()
    },
    async stop() {
      server.close()
      cut()
      await once(server, 'close')
    },
  }
}
