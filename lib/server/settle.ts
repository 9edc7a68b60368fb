/**
 * Settles the change logs on a schedule. Without it, idle logs would grow too old to be read (lib/storage/README.md, "How
 * it is read").
 */
import { storedKinds } from './kinds.ts'
import { createServer } from './server.ts'

/** Returns the handler, which runs every minute. Concurrent runs are safe. */
export function settleHandler() {
  const server = createServer(process.env)
  return async (): Promise<void> => {
    for (const { table } of storedKinds) await server.storage.sweep(table)
    server.log('info', 'settled', { tables: storedKinds.length })
  }
}
