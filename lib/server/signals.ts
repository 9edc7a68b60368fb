/** Writes signals, each once in a process: repeated uses and reports of one value cost no writes. */
import type { CommitOptions, CompanionItem, Storage } from '../engine/storage/interface.ts'

/** The signals that this process has written to each store. */
const memories = new WeakMap<object, Set<string>>()

/** The most signals to remember. A full memory forgets everything. */
const MOST = 1000

/** Writes a signal unless this process has done so. Returns whether the store did not have it. */
export async function writeSignal(
  storage: Pick<Storage, 'writeCompanion'>,
  item: CompanionItem,
  options: CommitOptions,
): Promise<boolean> {
  const written = memories.get(storage) ?? new Set()
  memories.set(storage, written)
  const id = `${item.pk} ${item.sk}`
  if (written.has(id)) return false
  const made = await storage.writeCompanion({ ...item, when: 'absent' }, options)
  if (written.size >= MOST) written.clear()
  written.add(id)
  return made !== undefined
}

/** The longest that a request waits for a signal, in milliseconds. */
const WAIT_MS = 1000

/** Returns a function that writes signals and never rejects. `failed` receives its errors. */
export const signalWriter =
  (storage: Pick<Storage, 'writeCompanion'>, failed: (error: unknown) => void) =>
  async (item: CompanionItem): Promise<void> => {
    const end = performance.now() + WAIT_MS
    await writeSignal(storage, item, { deadline: () => end - performance.now() }).catch(failed)
  }
