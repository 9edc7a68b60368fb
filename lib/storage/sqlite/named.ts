/** Names the tables that are open in this process. The functions find theirs by its name, as they find one of DynamoDB. */
import type { Driver } from '../driver.ts'

// Each bundle has a copy of this module, and all need the same names.
const holder = globalThis as { [name: symbol]: Map<string, Driver['open']> | undefined }
const symbol = Symbol.for('keyplane.tables')
holder[symbol] ??= new Map()
const tables = holder[symbol]

/** Gives a table a name, until the returned function is called. `open` is called for each function with the name. */
export function nameTable(name: string, open: Driver['open']): () => void {
  tables.set(name, open)
  return () => void tables.delete(name)
}

/** Opens the table of a name. Throws if no open table has it. */
export const openNamed: Driver['open'] = (name, means) => {
  const open = tables.get(name)
  if (!open) throw new Error(`this process has no table ${name}`)
  return open(name, means)
}
