/** The schedule that decides and settles the change logs: without it, idle logs would age (lib/storage/README.md, "How it is read"). */
import { storedKinds } from './kinds.ts'
import { createServer } from './server.ts'

/** Runs every minute; any number at once. */
export function settle() {
  const server = createServer(process.env)
  return async (): Promise<void> => {
    for (const { table } of storedKinds) await server.storage.sweep(table)
    server.log('info', 'settled', { tables: storedKinds.length })
  }
}
