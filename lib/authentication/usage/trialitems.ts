/**
 * Builds and reads what trials of scopes would have refused: one side item for each trial, which begins with the trial. `seen` says
 * that there is something, so that a write can depend on its absence.
 *
 *     pk=trial#UID sk=1795257600 seen=true r#bXkga2V5IGhhc2gx={request='get of pods in …' scope={rules=…} day=2026-11-26} expires=…
 */
import type { Scope } from '../../authorization/scopes/scope.ts'
import type { JsonObject } from '../../meta/types.ts'
import { isObject } from '../../meta/value/walk.ts'
import type { ItemKey } from '../../storage/keys.ts'
import { expiryOf } from '../keptitems.ts'
import { dayOf } from './days.ts'

/** What a trial would have refused. */
export interface TriedRefusal {
  /** In words. */
  request: string
  /** The scope entry that the tried scope lacks, if there is one. */
  scope?: Scope
}

export const trialPartition = (uid: string): string => `trial#${uid}`

/** Returns the key of the item of a trial. */
export const trialKey = (uid: string, since: number): ItemKey => ({ pk: trialPartition(uid), sk: String(since) })

/** Returns the attributes with which the item begins. `until` is in unix seconds. */
export const startOfTrial = (until: number): JsonObject => ({ expires: expiryOf(until) })

/** The attribute that the item has once the trial would have refused something. */
export const SEEN = 'seen'
const PREFIX = 'r#'
/** The attribute of an item with more refusals than it lists. */
const MORE = 'more'

/** Returns the attributes to set for a refusal at `at` (unix seconds). Without one, there is more than is listed. */
export const refusalAttributes = (
  refusal: { hash: string; refused: TriedRefusal } | undefined,
  at: number,
): JsonObject => ({
  [SEEN]: true,
  ...(refusal
    ? { [`${PREFIX}${refusal.hash}`]: { ...(refusal.refused as unknown as JsonObject), day: dayOf(at) } }
    : { [MORE]: true }),
})

export interface TrialReport {
  refused: (TriedRefusal & { day: string })[]
  hasMore: boolean
}

/** Reads the item of a trial, the last refusal first. People read it, so what is not in its form counts as nothing. */
export function readTrial(item: JsonObject | undefined): TrialReport {
  const refused = Object.entries(item ?? {}).flatMap(([name, value]) =>
    name.startsWith(PREFIX) && isRefusal(value) ? [value] : [],
  )
  return {
    refused: refused.sort((one, other) =>
      one.day < other.day ? 1 : one.day > other.day ? -1 : one.request < other.request ? -1 : 1,
    ),
    hasMore: item?.[MORE] === true,
  }
}

const isRefusal = (value: unknown): value is TriedRefusal & { day: string } =>
  isObject(value) && typeof value.request === 'string' && typeof value.day === 'string'
