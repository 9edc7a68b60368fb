/**
 * Simulates a table that does everything DynamoDB may do, only more often. Transactions become visible, and release their
 * items, one by one in any order before they are acknowledged. Reads of several items see each at a different moment.
 * Requests are lost, delayed or duplicated, answers are lost, and items expire in any order. An eventually consistent read
 * finds any earlier state of the item.
 */

import {
  type FaultKind,
  type Item,
  type ItemPage,
  type ItemQuery,
  type Items,
  type ItemWrite,
  isOutline,
  keyOf,
  sizeOf,
  type TransactOutcome,
  type WriteOutcome,
} from '../../../../../lib/engine/storage/items.ts'
import type { ItemKey } from '../../../../../lib/engine/storage/keys.ts'
import { limits } from '../../../../../lib/engine/storage/limits.ts'
import { allows, applyWrite } from '../../../../../lib/engine/storage/sqlite/effects.ts'
import type { Process, Simulation } from './simulation.ts'

export interface Weather {
  /** The probability that a request fails. */
  faults: number
  /** The greatest delay of a request, in ms. */
  late: number
  /** How long an item outlives its expiry at most, in ms. Undefined: for the whole schedule. */
  expiry: number | undefined
}

/** A slot as it was put; never removed. */
export interface Recorded {
  item: Item
  /** When it was filled. */
  at: number
  /** The write of the process that filled it; undefined for VOID. */
  write: number | undefined
}

export interface FakeTable {
  itemsFor(process: Process): Items
  /** Every slot ever filled, by revision. */
  log: ReadonlyMap<number, Recorded>
  /** All items, visible to readers or not. */
  truth: ReadonlyMap<string, Item>
  violations: string[]
  /** Requests in flight. */
  busy(): number
}

const idOf = ({ pk, sk }: ItemKey) => `${pk}\n${sk}`

export function fakeTable(
  simulation: Simulation,
  weather: Weather,
  ItemsFault: new (kind: FaultKind, cause: unknown) => Error,
): FakeTable {
  const { now, after, chance, between, pick, random } = simulation
  const truth = new Map<string, Item>()
  /** The items that readers see, by partition and then by ID. */
  const visible = new Map<string, Map<string, Item>>()
  /** The states of items that single writes have put, oldest first, by ID. */
  const history = new Map<string, Item[]>()
  const locks = new Set<string>()
  const log = new Map<number, Recorded>()
  const violations: string[] = []
  let requests = 0

  function store(items: Map<string, Item>, key: ItemKey, item: Item | undefined): void {
    if (item) items.set(idOf(key), item)
    else items.delete(idOf(key))
  }

  function show(key: ItemKey, item: Item | undefined): void {
    const partition = visible.get(key.pk) ?? new Map<string, Item>()
    visible.set(key.pk, partition)
    store(partition, key, item)
  }

  /** Writes an item, which may become visible later. */
  function decide(key: ItemKey, item: Item | undefined, write?: number): void {
    store(truth, key, item)
    if (item?.pk.includes('#log#')) {
      const rev = Number(item.sk)
      const before = log.get(rev)
      // If everything may have expired, the sweep voids slots that are long gone; that is harmless if it misleads no reader.
      if (before && item.type !== 'VOID')
        violations.push(`slot ${rev} is filled twice: ${before.item.type} ${item.type}`)
      if (!before) log.set(rev, { item, at: now(), write: item.type === 'VOID' ? undefined : write })
    }
    if (item && typeof item.expires === 'number' && weather.expiry !== undefined) {
      after(Math.max(0, item.expires * 1000 - now()) + between(0, weather.expiry) * random(), () => {
        if (truth.get(idOf(item)) !== item || locks.has(idOf(item))) return
        truth.delete(idOf(item))
        show(key, undefined)
      })
    }
  }

  function put(key: ItemKey, item: Item | undefined): void {
    decide(key, item)
    show(key, item)
    if (item) history.set(idOf(key), [...(history.get(idOf(key)) ?? []), item])
  }

  const latency = () => (chance(0.08) ? between(0, 700) : between(0, 12))

  /** Sends a request and returns its answer, if both arrive. `perform` calls back when the table is done. */
  function request<T>(process: Process, perform: (done: (answer: T | Error) => void) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (result: T | Error) =>
        after(latency() + process.freeze(), () => {
          if (process.alive) result instanceof Error ? reject(result) : resolve(result)
        })
      const arrive = (delay: number, done: (answer: T | Error) => void) => {
        requests++
        after(delay, () =>
          perform((result) => {
            requests--
            done(result)
          }),
        )
      }
      const silence = () => after(between(0, 900), () => answer(new ItemsFault('unanswered', undefined)))
      const ignore = () => {}
      switch (
        chance(weather.faults) ? pick(['lost', 'late', 'doubled', 'answer lost', 'throttled', 'conflict']) : 'fine'
      ) {
        case 'lost':
          return silence()
        case 'late':
          arrive(between(0, weather.late), ignore)
          return silence()
        case 'answer lost':
          arrive(latency(), ignore)
          return silence()
        case 'doubled':
          arrive(latency(), answer)
          return arrive(between(0, weather.late), ignore)
        case 'throttled':
          return answer(new ItemsFault('throttled', undefined))
        case 'conflict':
          return answer(new ItemsFault('conflict', undefined))
        default:
          return arrive(latency(), answer)
      }
    })
  }

  /** Changes one item at once, if no transaction holds it. */
  const change = <T>(process: Process, key: ItemKey, perform: (item: Item | undefined) => T): Promise<T> =>
    request(process, (done) =>
      locks.has(idOf(key)) ? done(new ItemsFault('conflict', undefined)) : done(perform(truth.get(idOf(key)))),
    )

  /** Reads each item of these partitions as it is visible at the start or at the end of the read. */
  const read = <T>(
    process: Process,
    pks: ReadonlySet<string>,
    view: (at: (id: string) => Item | undefined, ids: () => Iterable<string>) => T,
  ): Promise<T> =>
    request(process, (done) => {
      const copyVisible = () => new Map([...pks].flatMap((pk) => [...(visible.get(pk) ?? [])]))
      const early = copyVisible()
      after(between(0, 6), () => {
        const late = copyVisible()
        const either = new Map<string, Item | undefined>()
        const at = (id: string) => {
          if (!either.has(id)) either.set(id, (chance(0.5) ? early : late).get(id))
          return either.get(id)
        }
        done(view(at, () => new Set([...early.keys(), ...late.keys()])))
      })
    })

  function transact(process: Process, writes: readonly ItemWrite[]): Promise<TransactOutcome> {
    const { write } = process
    const keys = writes.map(keyOf)
    return request(process, (done) => {
      const conflicts = [...keys.entries()].flatMap(([index, key]) => (locks.has(idOf(key)) ? [index] : []))
      if (conflicts.length > 0) return done({ done: false, refused: [], conflicts })
      const refused = writes.flatMap((one, index) =>
        allows(truth.get(idOf(keys[index] as ItemKey)), one) ? [] : [index],
      )
      if (refused.length > 0) return done({ done: false, refused, conflicts: [] })
      for (const key of keys) locks.add(idOf(key))
      after(between(0, 10), () => {
        let unseen = writes.length
        for (const [index, one] of writes.entries()) {
          const key = keys[index] as ItemKey
          const item = applyWrite(one, truth.get(idOf(key)))
          decide(key, item, write)
          after(chance(0.2) ? between(0, 400) : between(0, 5), () => {
            show(key, item)
            locks.delete(idOf(key))
            if (--unseen === 0) done({ done: true })
          })
        }
      })
    })
  }

  /** The client checks the deadline at the last moment; a frozen process resumes just before. */
  async function sendBefore(process: Process, deadline: number): Promise<void> {
    if (deadline === Number.POSITIVE_INFINITY) return
    await new Promise<void>((resolve) => after(process.freeze(), () => process.alive && resolve()))
    if (now() + process.clockError > deadline) throw new ItemsFault('unanswered', undefined)
  }

  return {
    log,
    truth,
    violations,
    busy: () => requests,
    itemsFor: (process) => ({
      limits,
      get: (key, isRecent) =>
        read(process, new Set([key.pk]), (at) =>
          !isRecent || chance(0.5) ? at(idOf(key)) : pick([undefined, ...(history.get(idOf(key)) ?? [])]),
        ),
      batchGet: (keys) =>
        read(process, new Set(keys.map(({ pk }) => pk)), (at) =>
          keys.map((key) => at(idOf(key))).filter((item) => item !== undefined),
        ),
      query: (query) =>
        'index' in query
          ? Promise.reject(new Error('not in these schedules'))
          : read(process, new Set([query.pk]), (at, ids) => page(query, at, ids())),
      async write(one, deadline) {
        await sendBefore(process, deadline)
        const key = keyOf(one)
        return change(process, key, (there): WriteOutcome => {
          if (!allows(there, one)) return { done: false, there }
          put(key, applyWrite(one, there))
          return { done: true }
        })
      },
      allocate: (key, time) =>
        change(process, key, (there) => {
          const before = there ?? { ...key, n: 1, settled: 1, floor: 1, at: time, cleared: 1, marked: 1, markedAt: 0 }
          const item = { ...before, n: Number(before.n) + 1 }
          put(key, item)
          return item
        }),
      async transact(writes, deadline) {
        await sendBefore(process, deadline)
        return transact(process, writes)
      },
    }),
  }
}

/** Returns an item as the reader needs it: whole, as an outline, or not at all. */
function needed(item: Item, { unneeded: { upTo, text = '' } = { upTo: -1 } }: ItemQuery): Item | undefined {
  const { pk, sk, rv, gone, object } = item
  if (typeof rv !== 'number' || rv > upTo) return item
  if (gone === true) return undefined
  return typeof object === 'string' && !object.includes(text) ? { pk, sk, rv, outlined: sizeOf(item) } : item
}

function page(query: ItemQuery, at: (id: string) => Item | undefined, ids: Iterable<string>): ItemPage {
  const { from = '', to, prefix = '', after = '', limit = Number.POSITIVE_INFINITY } = query
  const found = [...ids]
    .map((id) => at(id))
    .filter((item) => item !== undefined)
    .filter(({ sk }) => sk >= from && (to === undefined || sk <= to) && sk > after && sk.startsWith(prefix))
    .sort((one, other) => (one.sk < other.sk ? -1 : 1))
  const items: Item[] = []
  let whole = 0
  for (const one of found) {
    const item = needed(one, query)
    if (item === undefined) continue
    if (whole === limit) return { items, more: true }
    items.push(item)
    if (!isOutline(item)) whole++
  }
  return { items, more: false }
}
