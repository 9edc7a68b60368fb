/** Declares what the model stores, and derives the writes of items from the difference of two states of a key. */
import { retentionSeconds } from './system.ts'

/** The item of a value, live or a tombstone. */
export interface Item {
  uid: string
  generation: number
  value: number
  disabled: boolean
  lastActivity?: number
  successor?: string
  overlap?: number
  /** The overlap is shorter than a request may last. */
  brief?: true
  pending?: true
  firstUsed?: number
  until?: number
  index?: { partition: 'credential' | 'rotation'; at: number }
  ended?: string
  expires?: number
}

export interface Row {
  rv: number
  uid: string
  generation: number
  disabled: boolean
  current: string
  /** The number of the current value. */
  value: number
  /** The current value itself has ended. */
  ended?: true
  pending?: { value: string; number: number; overlap: number; made: number }
  retiring?: { value: string; number: number; until: number }
  tokensNotBefore?: number
}

/** The items of the listed values as a write read them. */
export type Facts = ReadonlyMap<string, Item | undefined>

/** Why a value that is not listed any more has ended. */
export type Endings = ReadonlyMap<string, string>

export const listed = ({ current, pending, retiring }: Row): string[] =>
  [current, pending?.value, retiring?.value].filter((one) => one !== undefined)

export interface Derivation {
  before: Row
  after: Row | undefined
  facts: Facts
  endings: Endings
  now: number
  expires(lastActivity: number | undefined): number | undefined
  /** The shared activity, as it was read with the row. */
  activity: number | undefined
  requestSeconds: number
}

/** Returns the items to write; undefined removes one. Listed values without a live item are left as they are. */
export function derive(one: Derivation): Map<string, Item | undefined> {
  const { before, after, facts, endings, now } = one
  const writes = new Map<string, Item | undefined>()
  if (!after) {
    for (const value of listed(before)) if (!facts.get(value)?.ended) writes.set(value, undefined)
    return writes
  }
  for (const value of new Set([...listed(before), ...endings.keys()])) {
    const item = facts.get(value)
    const why = endings.get(value)
    if (why !== undefined && item && !item.ended) writes.set(value, tombstone(item, why, now))
  }
  for (const value of listed(after)) {
    const item = facts.get(value)
    const isNew = !listed(before).includes(value)
    if (item?.ended || (item === undefined && !isNew) || endings.has(value)) continue
    writes.set(value, live(one, after, value, item))
  }
  return writes
}

export function tombstone({ uid, generation, value, firstUsed }: Item, why: string, now: number): Item {
  return {
    uid,
    generation,
    value,
    disabled: false,
    ...(firstUsed !== undefined && { firstUsed }),
    ended: why,
    ...(why !== 'leaked' && { expires: now + retentionSeconds }),
  }
}

/** Returns the item of a listed value in its role. */
function live(one: Derivation, after: Row, value: string, item: Item | undefined): Item {
  const { expires, activity, requestSeconds } = one
  const { uid, generation, disabled, pending, retiring } = after
  const lastActivity = item?.lastActivity ?? activity
  const kept = {
    uid,
    disabled,
    ...(lastActivity !== undefined && { lastActivity }),
    ...(item?.firstUsed !== undefined && { firstUsed: item.firstUsed }),
  }
  if (value === pending?.value) {
    const at = item?.firstUsed === undefined ? pending.made + 86_400 : item.firstUsed + pending.overlap
    const index = { partition: 'rotation' as const, at }
    return { ...kept, generation: generation + 1, value: pending.number, pending: true, index }
  }
  if (value === retiring?.value) {
    const index = { partition: 'rotation' as const, at: retiring.until }
    const { brief } = item ?? {}
    return {
      ...kept,
      generation: generation - 1,
      value: retiring.number,
      until: retiring.until,
      ...(brief && { brief }),
      index,
    }
  }
  const at = expires(activity)
  const { overlap = 0 } = pending ?? {}
  return {
    ...kept,
    generation,
    value: after.value,
    ...(pending && { successor: pending.value, overlap, ...(overlap < requestSeconds && { brief: true as const }) }),
    ...(at !== undefined && { index: { partition: 'credential' as const, at } }),
  }
}
