/** Defines what writes of items mean, for the tables that tests simulate. memoryitems.test.ts compares it with DynamoDB. */
import { isDeepStrictEqual } from 'node:util'
import type { Condition, Item, ItemWrite } from '../../lib/storage/items.ts'

/** Reports whether an item meets the condition of a write. */
export function meets(when: Condition | undefined, item: Item | undefined): boolean {
  switch (when?.type) {
    case undefined:
      return true
    case 'absent':
      return item === undefined
    case 'unchanged':
      return item !== undefined && item.rv === when.rv && item.gone === undefined
    case 'vacant':
      return item === undefined || (item.gone !== undefined && Number(item.rv) < when.rev)
    case 'has':
      return (
        item !== undefined &&
        Object.entries(when.attributes).every(([name, value]) => isDeepStrictEqual(item[name], value)) &&
        when.lacks.every((name) => item[name] === undefined)
      )
  }
}

/** Returns the item after a write whose condition holds; undefined if the write removes it. */
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
