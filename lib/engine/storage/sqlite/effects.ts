/** Decides whether an item meets the condition of a write, and what the write makes of it. */
import { isDeepStrictEqual } from 'node:util'
import type { Condition, Item, ItemValue, ItemWrite, Test } from '../items.ts'

/** Reports whether the item allows the write. */
export const allows = (item: Item | undefined, { when = {} }: Pick<ItemWrite, 'when'>): boolean =>
  ([when].flat() as Condition[]).some((condition) =>
    Object.entries(condition).every(([attribute, test]) => passes(item?.[attribute], test)),
  )

function passes(value: ItemValue | undefined, test: Test): boolean {
  if (test === 'absent') return value === undefined
  if (test === 'present') return value !== undefined
  if ('is' in test) return isDeepStrictEqual(value, test.is)
  if ('not' in test) return !isDeepStrictEqual(value, test.not)
  return 'below' in test ? value === undefined || Number(value) < test.below : Number(value) >= test.from
}

/** Returns the item after a write that it allows; undefined if the write removes it. */
export function applyWrite(write: ItemWrite, before: Item | undefined): Item | undefined {
  switch (write.type) {
    case 'put':
      return write.item
    case 'check':
      return before
    case 'delete':
      return undefined
    case 'set': {
      const kept = Object.entries(before ?? {}).filter(([name]) => !write.remove?.includes(name))
      return { ...Object.fromEntries(kept), ...write.key, ...write.attributes }
    }
  }
}
