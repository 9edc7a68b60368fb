/** Decides whether an item meets the condition of a write, and what the write makes of it. */
import { isDeepStrictEqual } from 'node:util'
import type { Condition, Item, ItemWrite } from '../items.ts'
import type { ItemKey } from '../keys.ts'

export const keyOf = (write: ItemWrite): ItemKey => (write.type === 'put' ? write.item : write.key)

/** Reports whether the item allows the write. */
export function allows(item: Item | undefined, write: ItemWrite): boolean {
  if (write.type !== 'advance') return meets(write.when, item)
  const { attribute, value, exists, same = {}, owner } = write.change
  if (exists && !item) return false
  if (!Object.entries(same).every(([name, one]) => isDeepStrictEqual(item?.[name], one))) return false
  const before = item?.[attribute]
  return (
    before === undefined || Number(before) < value || (owner !== undefined && item?.[owner.attribute] !== owner.value)
  )
}

function meets(when: Condition | undefined, item: Item | undefined): boolean {
  switch (when?.type) {
    case undefined:
      return true
    case 'absent':
      return item === undefined
    case 'unchanged':
      return item !== undefined && item.rv === when.rv && item.gone === undefined
    case 'vacant':
      return item === undefined || (item.gone !== undefined && Number(item.rv) < when.rev)
    case 'tombstone':
      return item !== undefined && item.rv === when.rv && item.gone !== undefined
    case 'has':
      return (
        item !== undefined &&
        Object.entries(when.attributes).every(([name, value]) => isDeepStrictEqual(item[name], value)) &&
        when.lacks.every((name) => item[name] === undefined)
      )
  }
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
    case 'advance': {
      const { attribute, value, owner, also } = write.change
      return { ...before, ...write.key, [attribute]: value, ...(owner && { [owner.attribute]: owner.value }), ...also }
    }
  }
}
