/** Reads and writes side items: credentials, owner index entries. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import type { JsonObject } from '../../meta/types.ts'
import { StorageError } from '../errors.ts'
import type { CompanionItem, CompanionPage, CompanionQuery, CompanionWrite, IndexRange } from '../interface.ts'
import type { Condition, IndexPosition, Item, ItemPage, ItemWrite, SingleWrite } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { has, isAbsent } from '../records.ts'
import { type Context, newId, persist, untilAnswered } from './context.ts'

export async function getCompanions(
  { items }: Context,
  keys: readonly ItemKey[],
): Promise<(CompanionItem | undefined)[]> {
  const [only] = keys
  const found = keys.length === 1 && only ? [await items.get(only)] : await items.batchGet(distinct(keys))
  return keys.map(({ pk, sk }) => {
    const item = found.find((one) => one?.pk === pk && one.sk === sk)
    return item && companionOf(item)
  })
}

export async function writeCompanion(
  context: Context,
  item: CompanionWrite,
  deadline: Deadline,
): Promise<CompanionItem | undefined> {
  const { pk, sk, attributes } = item
  if (attributes === null) {
    await persist(context, { type: 'delete', key: { pk, sk } }, deadline)
    return undefined
  }
  const { when } = item
  if (typeof when === 'object') return swap(context, when.is, { pk, sk, attributes }, deadline)
  const write: SingleWrite = { type: 'put', item: { ...attributes, pk, sk }, when: when && isAbsent }
  return (await persist(context, write, deadline)) ? { pk, sk, attributes } : undefined
}

/**
 * Writes the item on the condition that it is still as it was read. Each swap gives the item another identifier, so the
 * condition compares that, and an answer that was lost can be found out. A transaction of one write is one write even if the client
 * of the driver sends it twice.
 */
async function swap(
  context: Context,
  before: CompanionItem | undefined,
  { pk, sk, attributes }: CompanionItem,
  deadline: Deadline,
): Promise<CompanionItem | undefined> {
  const id = newId(context)
  const written = { pk, sk, attributes: { ...attributes, swap: id } }
  const write: ItemWrite = { type: 'put', item: { ...written.attributes, pk, sk }, when: stillAs(before) }
  let [isUnclear, hadConflict] = [false, false]
  let cause: unknown
  try {
    const send = async (end: number) => {
      const outcome = await context.items.transact([write], end)
      hadConflict ||= !outcome.done && outcome.refused.length === 0
      return outcome.done || (outcome.refused.length > 0 ? false : undefined)
    }
    const isDone = await untilAnswered(context, deadline, send, ({ kind }) => {
      isUnclear ||= kind === 'unanswered'
      hadConflict ||= kind === 'conflict'
    })
    if (isDone) return written
    if (!isUnclear && !hadConflict) return undefined
    // Of a request that arrives twice, one may meet a conflict and the other take effect.
    const there = await context.items.get({ pk, sk })
    if (there?.swap === id) return written
    if (!isUnclear) return undefined
  } catch (error) {
    if (!isUnclear) throw error
    cause = error
  }
  throw new StorageError('Undecided', 'the outcome of the swap is unknown', { cause })
}

const stillAs = (before: CompanionItem | undefined): Condition =>
  before ? has({ swap: before.attributes.swap }) : isAbsent

export async function queryCompanions(
  { items }: Context,
  from: string | IndexRange,
  { limit, after }: CompanionQuery = {},
): Promise<CompanionPage> {
  const limited = limit === undefined ? {} : { limit }
  if (typeof from === 'string') {
    const page = await items.query({ pk: from, ...limited, ...(after !== undefined && { after }) })
    return pageOf(page, ({ sk }) => sk)
  }
  const { partition, sort } = from
  // A driver may refuse a range whose end is below its start.
  if (sort.from !== undefined && sort.from > sort.to) return { items: [] }
  const position = after === undefined ? {} : { after: JSON.parse(after) as IndexPosition }
  const page = await items.query({ index: from.index, partition, sort, ...limited, ...position })
  return pageOf(page, ({ pk, sk, [sort.attribute]: at }) => JSON.stringify({ pk, sk, at: Number(at) }))
}

function pageOf({ items, more }: ItemPage, positionOf: (item: Item) => string): CompanionPage {
  const last = items.at(-1)
  return { items: items.map(companionOf), ...(more && last && { next: positionOf(last) }) }
}

const distinct = (keys: readonly ItemKey[]): ItemKey[] => [
  ...new Map(keys.map((key) => [JSON.stringify([key.pk, key.sk]), key])).values(),
]

function companionOf({ pk, sk, ...attributes }: Item): CompanionItem {
  return { pk, sk, attributes: attributes as JsonObject }
}
