/** Reads and writes side items: credentials, owner index entries. */
import type { Deadline } from '../../meta/errors/deadline.ts'
import type { JsonObject } from '../../meta/types.ts'
import type { CompanionItem, CompanionPage, CompanionQuery, IndexPage, IndexQuery } from '../interface.ts'
import { type Item, ItemsFault, type ItemWrite } from '../items.ts'
import type { ItemKey } from '../keys.ts'
import { writerDeadline } from './constants.ts'
import { type Context, createPause, refuseLateWrite } from './context.ts'

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

export const keepCompanion = (
  context: Context,
  { pk, sk, attributes }: CompanionItem,
  deadline: Deadline,
): Promise<void> => writeAlone(context, { type: 'put', item: { ...attributes, pk, sk } }, deadline)

export const dropCompanion = (context: Context, { pk, sk }: ItemKey, deadline: Deadline): Promise<void> =>
  writeAlone(context, { type: 'delete', key: { pk, sk } }, deadline)

/** Sends one unconditional write until it succeeds. */
async function writeAlone(context: Context, one: ItemWrite, deadline: Deadline): Promise<void> {
  const { items, now } = context
  for (const pause = createPause(context); ; ) {
    refuseLateWrite(deadline)
    try {
      const end = now() + Math.min(writerDeadline, deadline())
      const { done } = await items.transact([one], end)
      if (done) return
      await pause()
    } catch (error) {
      if (!(error instanceof ItemsFault)) throw error
      await pause(error)
    }
  }
}

export async function queryCompanions(
  { items }: Context,
  pk: string,
  { limit, after }: CompanionQuery,
): Promise<CompanionPage> {
  const page = await items.query({
    pk,
    ...(limit !== undefined && { limit }),
    ...(after !== undefined && { after }),
  })
  const last = page.items.at(-1)
  return { items: page.items.map(companionOf), ...(page.more && last && { next: last.sk }) }
}

export async function queryIndex({ items }: Context, query: IndexQuery): Promise<IndexPage> {
  const page = await items.queryIndex(query)
  const last = page.items.at(-1)
  return {
    items: page.items.map(companionOf),
    ...(page.more && last && { next: { pk: last.pk, sk: last.sk, at: Number(last[query.sort.attribute]) } }),
  }
}

const distinct = (keys: readonly ItemKey[]): ItemKey[] => [
  ...new Map(keys.map((key) => [JSON.stringify([key.pk, key.sk]), key])).values(),
]

function companionOf({ pk, sk, ...attributes }: Item): CompanionItem {
  return { pk, sk, attributes: attributes as JsonObject }
}
