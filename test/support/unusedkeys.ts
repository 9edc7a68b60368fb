/** Ends a key as if nobody had used it for days. */
import { endUnusedKeys } from '../../lib/keys/events/unused.ts'
import { OwnedAccessKey } from '../../lib/keys/ownedaccesskey.ts'
import type { Server } from '../../lib/server/server.ts'
import { endless } from './deadlines.ts'

/** Returns how many keys it has ended. */
export async function endAsUnused(parts: Server, name: string): Promise<number> {
  const { storage } = parts
  const run = (at: Date) =>
    endUnusedKeys(
      {
        ...parts,
        store: parts.storeOf(OwnedAccessKey),
        storage: { ...storage, list: (table, request) => storage.list(table, { ...request, key: name }) },
        now: () => at,
        maxIdleSeconds: 60,
        hasTime: () => true,
        deadline: endless,
      },
      async () => undefined,
    )
  await run(new Date())
  return (await run(new Date(Date.now() + 3 * 86_400_000)))?.ended ?? 0
}
