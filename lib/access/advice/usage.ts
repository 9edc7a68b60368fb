/** Describes what a key did, as it was recorded. The advice about its scope follows from this. */

import type { ScopeOptions } from '../scopes/project.ts'
import type { ScopeChain } from '../scopes/scope.ts'
import type { SpaceOptions } from '../scopes/space.ts'
import type { UsedEntry, UsedPlace } from './usedentry.ts'

export interface Usage {
  /** What the key did, and on which day (YYYY-MM-DD, UTC) it did so last. */
  entries: readonly { entry: UsedEntry; day: string }[]
  /** Clusters that accepted the key itself by a TokenReview. */
  accepted: readonly { place: UsedPlace; day: string }[]
  /** Whether the key did more than is recorded. */
  isIncomplete: boolean
  /** Returns when the cluster last asked about a request of the key, or undefined: then what it does there is unknown. */
  asked(place: UsedPlace): string | undefined
  /** Whole days for which usage has been recorded for this key. */
  days: number
}

export interface UsageOptions extends ScopeOptions, SpaceOptions {
  /** The scopes that the key inherited, without its own. Clusters evaluate the whole chain when they accept the key. */
  inherited?: ScopeChain
}
