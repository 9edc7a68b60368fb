/**
 * Holds what the process of the local server provides in place of services of AWS. Each bundle has a copy of this module, and all find
 * the same.
 */
const holder = globalThis as { [name: symbol]: unknown }

/** Provides something under a name, until the returned function is called. */
export function provide<T>(name: string, value: T): () => void {
  const symbol = Symbol.for(`keyplane.${name}`)
  const before = holder[symbol]
  holder[symbol] = value
  return () => {
    holder[symbol] = before
  }
}

/** Returns what is provided under a name. Throws if nothing is. */
export function provided<T>(name: string): T {
  const value = holder[Symbol.for(`keyplane.${name}`)]
  if (value === undefined) throw new Error(`this process provides no ${name}`)
  return value as T
}
