/**
 * Builds and reads the marks of trials of scopes: one side item for each trial, which begins with the trial and outlives the keys
 * whose requests it would have refused. It has a hash of each kind of request with the last day, and no details: those are in the
 * usage of the key. `seen` says that there is something, so that a write can depend on its absence.
 *
 *     pk=trial#UID sk=1795257600 seen=true r#bXkga2V5IGhhc2gx=2026-11-26 expires=…
 */
import type { JsonObject } from '../../meta/types.ts'
import type { ItemKey } from '../../storage/keys.ts'
import { dayOf, expiryOf } from '../keptitems.ts'

export const trialKey = (uid: string, since: number): ItemKey => ({ pk: `trial#${uid}`, sk: String(since) })

/** Returns the attributes with which the item begins. `until` is in unix seconds. */
export const startOfTrial = (until: number): JsonObject => ({ expires: expiryOf(until) })

/** The attribute that the item has once the trial would have refused something. */
export const SEEN = 'seen'
const PREFIX = 'r#'

/** Returns the attributes to set for a kind of request that the trial would have refused at `at` (unix seconds). */
export const markAttributes = (hash: string, at: number): JsonObject => ({
  [SEEN]: true,
  [`${PREFIX}${hash}`]: dayOf(at),
})

/** How many kinds of requests a trial would have refused, and on which day last. */
interface TrialMarks {
  refusals: number
  lastRefused?: string
}

/** Reads the item of a trial. */
export function readMarks(item: JsonObject | undefined): TrialMarks {
  const days = Object.entries(item ?? {}).flatMap(([name, day]) =>
    name.startsWith(PREFIX) && typeof day === 'string' ? [day] : [],
  )
  const lastRefused = days.sort().at(-1)
  return { refusals: days.length, ...(lastRefused !== undefined && { lastRefused }) }
}
