/** Lists the rules of the protocol, each with the edit that removes it. The schedules must detect every edit. */
import type { Edit } from '../../../../support/editedmodules.ts'
import { clearing, counting, expiring, lagging, making, naming, plain, recreating } from './schedule.ts'
import mutations from './vectors/mutants.json' with { type: 'json' }

const profiles = { plain, clearing, counting, expiring, lagging, making, naming, recreating }

interface Mutation {
  without: string
  /** The schedules that detect it. */
  profile?: keyof typeof profiles
  /** The first seed, if detection is rare: one that detected it once. */
  seed?: number
  edits: readonly Edit[]
}

/**
 * recovery.test.ts covers more rules, which schedules need too rarely: the deadline of voids, the slot that proves
 * the log of an old list, voids only above `settled` in the rewind of recreated names, and when tombstones are cleared.
 */
export const mutants = (mutations as Mutation[]).map(({ profile = 'plain', ...one }) => ({
  ...one,
  profile: profiles[profile],
}))
