/**
 * Settles the change logs on a schedule. Without it, idle logs would grow too old to be read (lib/storage/README.md, "How
 * it is read").
 */

import { storedKinds } from '../apis/stored.ts'
import type { Storage, Table } from '../storage/interface.ts'
import { createServer } from './server.ts'

/** Settles the log of each table. Throws what failed, after the others are settled. */
export async function settleAll({ sweep }: Pick<Storage, 'sweep'>, tables: readonly Table[]): Promise<void> {
  const results = await Promise.allSettled(tables.map((table) => sweep(table)))
  const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures, 'logs not settled')
}

/** Returns the handler, which runs every minute. Concurrent runs are safe. */
export function settleHandler() {
  const server = createServer(process.env)
  return async (): Promise<void> => {
    await settleAll(
      server.storage,
      storedKinds.map(({ table }) => table),
    )
    server.log('info', 'settled', { tables: storedKinds.length })
  }
}
