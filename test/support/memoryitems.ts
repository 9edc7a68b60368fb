/**
 * Implements the item operations in memory, for tests of what is built on the storage: some hundred times as fast as
 * the emulator. An operation takes effect at once, so transactions never conflict. memoryitems.test.ts compares it with
 * DynamoDB.
 */
import type { IndexQuery } from '../../lib/storage/interface.ts'
import { type Item, type ItemQuery, type Items, ItemsFault, type ItemWrite } from '../../lib/storage/items.ts'
import type { ItemKey } from '../../lib/storage/keys.ts'
import { queryItems } from '../../lib/storage/protocol/constants.ts'
import { applyWrite, meets } from './itemwrites.ts'

/** Deadlines are judged by `now`. `wrote` receives the puts of each transaction before it is answered. */
export function createMemoryItems(now: () => number, wrote: (puts: readonly Item[]) => void = () => {}): Items {
  const partitions = new Map<string, Map<string, Item>>()
  const at = ({ pk, sk }: ItemKey): Item | undefined => partitions.get(pk)?.get(sk)

  function checkTime(deadline: number): void {
    if (now() > deadline) throw new ItemsFault('unanswered', new Error('too late to be sent'))
  }

  function store({ pk, sk }: ItemKey, item: Item | undefined): void {
    const partition = partitions.get(pk) ?? new Map<string, Item>()
    partitions.set(pk, partition)
    if (item) partition.set(sk, structuredClone(item))
    else partition.delete(sk)
  }

  function query({ pk, from, to, prefix, after, limit, attributes }: ItemQuery) {
    const found = [...(partitions.get(pk)?.values() ?? [])]
      .filter(({ sk }) => (from === undefined || sk >= from) && (to === undefined || sk <= to))
      .filter(({ sk }) => (after === undefined || sk > after) && sk.startsWith(prefix ?? ''))
      .sort((one, other) => byText(one.sk, other.sk))
    return page(found, limit ?? queryItems, attributes)
  }

  function queryIndex({ partition, sort, limit, after }: IndexQuery) {
    const numberOf = (item: Item) => Number(item[sort.attribute])
    const found = [...partitions.values()]
      .flatMap((items) => [...items.values()])
      .filter((item) => item[partition.attribute] === partition.value && isInRange(numberOf(item), sort))
      .sort((one, other) => numberOf(one) - numberOf(other) || byText(one.pk, other.pk) || byText(one.sk, other.sk))
    const next = after
      ? found.filter(
          (item) =>
            numberOf(item) > after.at ||
            (numberOf(item) === after.at && (byText(item.pk, after.pk) || byText(item.sk, after.sk)) > 0),
        )
      : found
    return page(next, limit, undefined)
  }

  return {
    get: async (key) => copy(at(key)),
    getRecent: async (key) => copy(at(key)),
    batchGet: async (keys, attributes) => keys.flatMap((key) => project(at(key), attributes) ?? []),
    query: async (one) => query(one),
    queryIndex: async (one) => queryIndex(one),
    async putIfAbsent(item, deadline) {
      checkTime(deadline)
      const there = at(item)
      if (!there) store(item, item)
      return copy(there)
    },
    async allocate(key, began) {
      const { n, settled, floor, at: time } = { n: 1, settled: 1, floor: 1, at: began, ...at(key) }
      store(key, { ...at(key), ...key, n: Number(n) + 1, settled, floor, at: time })
      return copy(at(key)) as Item
    },
    async settle(key, to) {
      const there = at(key)
      if (there && Number(there.settled) < to) store(key, { ...there, settled: to })
    },
    async confirm(key, { n, was, at: time, isFloor }) {
      const there = at(key)
      if (!there || !(Number(there.settled) >= n) || there.at !== was) return
      store(key, { ...there, at: time, ...(isFloor && { floor: n }) })
    },
    async transact(writes, deadline) {
      checkTime(deadline)
      const refused = writes.flatMap((write, index) => (holds(write, at(keyOf(write))) ? [] : [index]))
      if (refused.length > 0) return { done: false, refused, conflicts: [] }
      for (const write of writes) store(keyOf(write), applyWrite(write, at(keyOf(write))))
      wrote(writes.flatMap((write) => (write.type === 'put' ? [write.item] : [])))
      return { done: true }
    },
  }
}

const isInRange = (at: number, { from = Number.NEGATIVE_INFINITY, to }: IndexQuery['sort']): boolean =>
  at >= from && at <= to

const byText = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other))

const copy = (item: Item | undefined): Item | undefined => item && structuredClone(item)

function project(item: Item | undefined, attributes: readonly string[] | undefined): Item | undefined {
  if (!item || !attributes) return copy(item)
  return copy(Object.fromEntries(Object.entries(item).filter(([name]) => attributes.includes(name))) as Item)
}

const page = (found: readonly Item[], limit = Number.POSITIVE_INFINITY, attributes?: readonly string[]) => ({
  items: found.slice(0, limit).map((item) => project(item, attributes) as Item),
  more: found.length > limit,
})

const keyOf = (write: ItemWrite): ItemKey => (write.type === 'put' ? write.item : write.key)

function holds(write: ItemWrite, item: Item | undefined): boolean {
  if (write.type !== 'advance') return meets(write.when, item)
  const { attribute, value, exists, same = {}, owner } = write.change
  if (exists && !item) return false
  if (Object.entries(same).some(([name, one]) => item?.[name] !== one)) return false
  const before = item?.[attribute]
  return (
    before === undefined || Number(before) < value || (owner !== undefined && item?.[owner.attribute] !== owner.value)
  )
}
