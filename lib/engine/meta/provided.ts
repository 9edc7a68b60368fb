/**
 * Holds what the process of the local server provides in place of services of AWS. Each bundle has a copy of this module, and all find
 * the same. Of several servers in one process, the last one that is still there provides it.
 */
import { PROGRAM } from './program.ts'

const holder = globalThis as { [name: symbol]: { value: unknown }[] | undefined }

/** Provides something under a name, until the returned function is called. */
export function provide<T>(name: string, value: T): () => void {
  const symbol = Symbol.for(`${PROGRAM}.${name}`)
  const entry = { value }
  holder[symbol] = [...(holder[symbol] ?? []), entry]
  return () => {
    holder[symbol] = holder[symbol]?.filter((one) => one !== entry)
  }
}

/** Returns what is provided under a name. Throws if nothing is. */
export function provided<T>(name: string): T {
  const entry = holder[Symbol.for(`${PROGRAM}.${name}`)]?.at(-1)
  if (entry === undefined) throw new Error(`this process provides no ${name}`)
  return entry.value as T
}
