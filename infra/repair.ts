/**
 * Finds what is not whole in a restored table, and repairs it. DynamoDB restores each item as it was at some moment, and these
 * moments may differ by a second, so a restored table may hold a part of a transaction. Objects decide: what follows from their
 * rows is made again, and what no row explains is removed. No credential is made, because its row does not tell all of it.
 */

import { ownerCompanions } from '../lib/engine/registry/owners.ts'
import { marshalItem, unmarshalItem } from '../lib/engine/storage/dynamodb/expressions.ts'
import type { Stored } from '../lib/engine/storage/interface.ts'
import type { Item } from '../lib/engine/storage/items.ts'
import { activityOf, isSlot, marksOf, parseSortKey, rowsOf, sortKey } from '../lib/engine/storage/keys.ts'
import { decodeState, readSlot, rowState, rvOf, type Slot, type State } from '../lib/engine/storage/records.ts'
import { credentialItemKey } from '../lib/keys/credential/credential.ts'
import { decodeKeyInternal } from '../lib/keys/credential/keyinternal.ts'
import type { KeyHash } from '../lib/keys/credential/pepper.ts'
import { generationOf, valuesOf } from '../lib/keys/values/keyvalues.ts'
import { storedKinds } from '../lib/server/storedkinds.ts'
import { isTombstone, type StoredItem, textOf } from './restoredvalues.ts'
import { sideItemIn } from './sideitems.ts'

export interface Repaired {
  items: StoredItem[]
  /** What was repaired, one line each. */
  repairs: string[]
  /** What somebody must do, one line each. */
  open: string[]
}

const keys = 'ownedaccesskeys'
const idOf = ({ pk, sk }: { pk: string; sk: string }) => JSON.stringify([pk, sk])

/** Returns the items as whole objects. `slots` are items of the change log, which is newer where a row was restored too early. */
export function repair(restored: Iterable<StoredItem>, slots: Iterable<StoredItem>): Repaired {
  const items = new Map([...restored].map((item) => [idOf({ pk: textOf(item.pk), sk: textOf(item.sk) }), item]))
  const repairs: string[] = []
  const open: string[] = []
  const put = (item: Item, what: string) => {
    items.set(idOf(item), marshalItem(item))
    repairs.push(what)
  }
  const remove = (key: { pk: string; sk: string }, what: string) => {
    if (items.delete(idOf(key))) repairs.push(what)
  }
  const newest = newestSlots(slots)
  /** The side items that follow from the rows. */
  const explained = new Set<string>()
  for (const { table } of storedKinds) {
    const { resource } = table
    const rows = rowsOf(resource)
    for (const slot of newest.get(resource)?.values() ?? []) {
      const key = { pk: rows, sk: sortKey(slot.key) }
      const row = items.get(idOf(key))
      if (row ? rvOf(unmarshalItem(row)) >= slot.rev : !slot.state) continue
      if (slot.state) put({ ...key, ...rowOf(slot.state) }, `${resource}/${slot.key}: the row, from the change log`)
      else remove(key, `${resource}/${slot.key}: removed, as the change log says`)
    }
    for (const item of [...items.values()].filter(({ pk }) => textOf(pk) === rows)) {
      const state = rowState(unmarshalItem(item))
      if (state === undefined) continue
      const name = `${resource}/${state.key}`
      const sk = sortKey(state.key)
      explained.add(idOf({ pk: activityOf(resource), sk }))
      for (const partition of state.partitions) {
        const copy = { pk: rowsOf(resource, partition), sk }
        explained.add(idOf(copy))
        const present = items.get(idOf(copy))
        if (!present || rvOf(unmarshalItem(present)) !== state.rv) {
          put({ ...copy, ...rowOf(state) }, `${name}: its copy in ${partition}`)
        }
        if (!table.counted?.(decodeState(state))) continue
        const mark = { pk: marksOf(resource, partition), sk }
        explained.add(idOf(mark))
        if (!items.has(idOf(mark))) put(mark, `${name}: its mark in ${partition}`)
      }
      const stored = decodeState(state)
      for (const entry of ownerCompanions(resource, state.key, stored.object, undefined)) {
        explained.add(idOf(entry))
        if (entry.op === 'put' && !items.has(idOf(entry))) {
          put({ ...entry.attributes, pk: entry.pk, sk: entry.sk }, `${name}: its entry in the owner index`)
        }
      }
      for (const partition of table.names?.(stored) ?? []) {
        const entry = { pk: rowsOf(resource, partition), sk }
        explained.add(idOf(entry))
        if (!items.has(idOf(entry))) put({ ...entry, rv: state.rv }, `${name}: its entry in ${partition}`)
      }
      if (resource === keys) open.push(...credentialsOf(stored, items, explained))
    }
  }
  for (const item of [...items.values()]) {
    const key = { pk: textOf(item.pk), sk: textOf(item.sk) }
    if (isDerived(item) && !explained.has(idOf(key)))
      remove(key, `${ownerOf(item)}: ${key.pk.split('#', 2)[0]} item without its object`)
  }
  return { items: [...items.values()], repairs, open }
}

const rowOf = ({ rv, object, internal, partitions }: State) => ({ rv, object, internal, partitions: [...partitions] })

/** Returns the newest change of each object, by kind and key. */
function newestSlots(slots: Iterable<StoredItem>): Map<string, Map<string, Slot>> {
  const newest = new Map<string, Map<string, Slot>>()
  for (const item of slots) {
    const pk = textOf(item.pk)
    const slot = isSlot({ pk }) ? readSlot(unmarshalItem(item)) : undefined
    if (slot === undefined || slot.type === 'VOID') continue
    const kind = newest.get(pk.slice(0, pk.indexOf('#'))) ?? new Map<string, Slot>()
    newest.set(pk.slice(0, pk.indexOf('#')), kind)
    if ((kind.get(slot.key)?.rev ?? 0) < slot.rev) kind.set(slot.key, slot)
  }
  return newest
}

/**
 * Adds the credentials of a key that agree with it to `explained`: one from before a change could allow what the change has taken
 * away. Returns what its owner must do.
 */
function credentialsOf(
  { key, object, internal }: Stored,
  items: Map<string, StoredItem>,
  explained: Set<string>,
): string[] {
  const { uid, generation = 1 } = object.metadata
  return valuesOf(decodeKeyInternal(internal)).flatMap((value) => {
    const id = idOf(credentialItemKey(value.credential))
    const item = items.get(id)
    const { uid: owner, generation: told, successor }: Partial<Item> = item ? unmarshalItem(item) : {}
    const agrees = owner === uid && (told === undefined || told === generationOf(value, generation))
    if (item && (agrees || isTombstone(item))) {
      explained.add(id)
      // The value of an open rotation: without it, the one before would be refused, too.
      if (isHash(successor)) explained.add(idOf(credentialItemKey(successor)))
      return []
    }
    return [
      `${keys}/${key}: no credential of its ${value.state.toLowerCase()} value, which gives no access: give the key a new value`,
    ]
  })
}

const isHash = (value: unknown): value is KeyHash => typeof value === 'object' && value !== null && 'hash' in value

/** Reports whether the item follows from an object. The tombstones of values and of rows stay, whatever there is now. */
function isDerived(item: StoredItem): boolean {
  const pk = textOf(item.pk)
  if (pk.startsWith('credential#')) return !isTombstone(item)
  if (sideItemIn(pk)?.isDerived) return true
  const isSideOf = (resource: string) => pk === activityOf(resource) || pk.startsWith(`${rowsOf(resource)}#`)
  return item.gone === undefined && storedKinds.some(({ table }) => isSideOf(table.resource))
}

const ownerOf = ({ pk, sk, name }: StoredItem): string =>
  textOf(pk).startsWith('credential#') ? `${keys}/${textOf(name)}` : parseSortKey(textOf(sk))
