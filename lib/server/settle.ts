/**
 * Settles the change logs on a schedule. Without it, idle logs would grow too old to be read (lib/engine/storage/README.md, "How
 * it is read").
 */

import { forEach } from '../engine/registry/parallel.ts'
import { createServer } from './server.ts'
import { storedKinds } from './storedkinds.ts'

/** Returns the handler, which runs every minute. Concurrent runs are safe. A log that fails does not keep the others from it. */
export function settleHandler() {
  const server = createServer(process.env)
  return async (): Promise<void> => {
    await forEach(
      storedKinds,
      () => true,
      ({ table }) => server.storage.sweep(table),
    )
    server.log('info', 'settled', { tables: storedKinds.length })
  }
}
