/** Remembers which signals a process has written, so that repeated uses and reports of one value cost no writes. */
import type { CompanionItem } from '../storage/interface.ts'

export interface SignalMemory {
  has(item: CompanionItem): boolean
  add(item: CompanionItem): void
}

/** The most signals to remember. */
const MOST = 1000

/** Returns a memory, which forgets everything when it is full. */
export function createSignalMemory(): SignalMemory {
  const written = new Set<string>()
  const idOf = ({ pk, sk }: CompanionItem) => `${pk} ${sk}`
  return {
    has: (item) => written.has(idOf(item)),
    add(item) {
      if (written.size >= MOST) written.clear()
      written.add(idOf(item))
    },
  }
}
