/** Intercepts the operations on items. */
import type { Items } from '../../lib/engine/storage/items.ts'

export type Operation = Exclude<keyof Items, 'limits'>

/** Returns the items with `around` in place of each operation. It may make the operation by `call`. */
export function callsOf(items: Items, around: (operation: Operation, call: () => Promise<unknown>) => unknown): Items {
  const { limits, ...operations } = items
  const wrapped = Object.entries(operations).map(([name, operation]) => [
    name,
    async (...given: never[]) =>
      around(name as Operation, () => (operation as (...all: never[]) => Promise<unknown>)(...given)),
  ])
  return { limits, ...Object.fromEntries(wrapped) }
}
