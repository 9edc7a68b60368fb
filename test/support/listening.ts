/** Listens with servers on free ports of this machine. */
import { once } from 'node:events'
import type { AddressInfo, Server, Socket } from 'node:net'

export interface Listening {
  port: number
  /** `http://127.0.0.1:PORT` */
  url: string
  /** Closes the server and all its connections. */
  stop(): Promise<void>
}

/** Listens with the server until `stop`. */
export async function listening(server: Server): Promise<Listening> {
  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const closed = once(server.close(), 'close')
      for (const socket of connections) socket.destroy()
      await closed
    },
  }
}
