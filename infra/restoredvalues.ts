/**
 * Finds the keys of a restored table with a value that has ended since: its owner or a report of a leak has ended it, it was
 * rotated, or nobody used the key. A restore must not revive it. Works on credentials as they are stored (lib/keys/credential/credential.ts).
 */
import type { AttributeValue } from '@aws-sdk/client-dynamodb'

export type StoredItem = Record<string, AttributeValue>

export const textOf = ({ S = '' }: AttributeValue = { S: '' }): string => S

const isCredential = ({ pk }: StoredItem): boolean => textOf(pk).startsWith('credential#')

/** Reports whether the item is what remains of a value that has ended. */
export const isTombstone = (item: StoredItem): boolean => isCredential(item) && item.ended !== undefined

/** Reports whether the item is of a value in use, in contrast to one that a rotation made and no client has used yet. */
const isInUse = ({ pending, firstUsed }: StoredItem): boolean => pending === undefined || firstUsed !== undefined

/** Reports whether the deployment has ended the key of the value, because nobody used it. */
const isEndedUnused = (item?: StoredItem): boolean => item?.endedUnused !== undefined

interface Comparison {
  /** Compares an item of the deployment's table. */
  meet(item: StoredItem): void
  /** Returns the names of the keys, and the tombstones of their values that the table does not have. */
  ended(now: number): { names: ReadonlySet<string>; tombstones: readonly StoredItem[] }
}

/** Begins a comparison with the items that were restored. */
export function compareValues(restored: Iterable<StoredItem>): Comparison {
  const live = [...restored].filter((item) => isCredential(item) && !isTombstone(item))
  const values = new Map(live.map((item) => [textOf(item.pk), item]))
  const keys = new Map(live.map((item) => [textOf(item.uid), textOf(item.name)]))
  const names = new Set<string>()
  const kept = new Set<string>()
  return {
    meet(item) {
      if (!isCredential(item)) return
      const before = values.get(textOf(item.pk))
      if (isTombstone(item)) {
        kept.add(textOf(item.pk))
        if (before) names.add(textOf(before.name))
      } else if ((isInUse(item) && !(before && isInUse(before))) || (isEndedUnused(item) && !isEndedUnused(before))) {
        // Another value has come into use. The one before has no tombstone until somebody writes the key. Or the key has ended.
        const name = keys.get(textOf(item.uid))
        if (name !== undefined) names.add(name)
      }
    },
    ended(now) {
      const left = live.filter(({ pk, name }) => names.has(textOf(name)) && !kept.has(textOf(pk)))
      return { names, tombstones: left.map((item) => tombstoneOf(item, now)) }
    },
  }
}

/** Returns a tombstone that is kept permanently, because the restore may be repeated at any time. */
const tombstoneOf = ({ pk, sk, name, uid, user }: StoredItem, now: number): StoredItem => ({
  ...({ pk, sk, name, uid, user } as StoredItem),
  ended: { S: 'replaced' },
  at: { N: String(Math.floor(now / 1000)) },
})
