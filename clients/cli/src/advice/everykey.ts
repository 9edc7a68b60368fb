/** Reads the usage of every key. */
import { isExchanged } from '../../../core/src/keylives.ts'
import { asKey, keyPath } from '../api/keys.ts'
import { listAll } from '../api/lists.ts'
import { inParallel } from '../api/parallel.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { readUsage, type UsedKey } from '../api/usage.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { compareUnneeded } from './advicetexts.ts'

/**
 * Returns the keys that the user may see with their usage, those first that need the least of their scope. Says how many are left out because
 * they have gone meanwhile, or because their usage is not for the user. Throws that refusal if it is that of every key.
 */
export async function readEveryKey(
  io: Io,
  session: Session,
  { exchanged }: { exchanged: boolean },
): Promise<UsedKey[]> {
  const { items } = await listAll(session, keyPath())
  const keys = items.map(asKey).filter((key) => exchanged || !isExchanged(key))
  const refusals: StatusError[] = []
  let read = 0
  const progress = (text: string) => io.isTerminal.err && io.err(`\r\u001b[K${text}`)
  const used = await inParallel(keys, async (key): Promise<UsedKey[]> => {
    const usage = await readUsage(session, key.metadata.name).catch((error: unknown) => {
      if (!(error instanceof StatusError) || ![403, 404].includes(error.code)) throw error
      refusals.push(error)
    })
    progress(`${++read} of ${keys.length} …`)
    return usage ? [{ key, ...usage }] : []
  }).finally(() => progress(''))
  const [first] = refusals
  if (first && refusals.length === keys.length) throw first
  if (first) {
    const count = refusals.length === 1 ? '1 key is' : `${refusals.length} keys are`
    note(io, `${count} left out: ${first.message.split('\n')[0]}`)
  }
  return used.flat().toSorted(compareUnneeded)
}
