/** Lists the rules of rotations, each with schedules that detect its absence. lib/authentication/README.md shows what fails. */
import type { Rule } from './rules.ts'
import { brief, type Profile, plain, restoring, sliding, troubled } from './schedule.ts'

export interface Mutant {
  without: Rule
  profile: Profile
  /** The first seed, if detection is rare: a little below one that detected it once. */
  seed?: number
}

export const mutants: readonly Mutant[] = [
  { without: 'a rotation waits while another value is pending', profile: plain },
  { without: 'a pending value is replaced only while it is unused', profile: brief },
  { without: 'jobs replace only what is an hour old', profile: plain },
  { without: 'no rotation during an overlap', profile: plain },
  { without: 'a retiring value may not rotate', profile: brief },
  { without: 'the first use is recorded before the request is allowed', profile: plain },
  { without: 'the first use is conditional', profile: brief },
  { without: 'no first use of a disabled key', profile: brief },
  { without: 'the first use counts once', profile: brief },
  { without: 'the overlap counts from the first use', profile: plain },
  { without: 'a pending value does not lapse', profile: plain },
  { without: 'a missing successor means dead', profile: brief },
  { without: 'a replaced successor means to look again', profile: brief },
  { without: 'tombstones keep the first use', profile: restoring, seed: 3700 },
  { without: 'writes settle by the facts of the items', profile: plain },
  { without: 'the spec and the settling each raise the generation', profile: brief },
  { without: 'spec.key ends the pending value', profile: troubled },
  { without: 'a leak ends the retiring value', profile: sliding, seed: 1000 },
  { without: 'later writes keep what has ended', profile: troubled },
  { without: 'a listed value without an item stays without', profile: restoring, seed: 1000 },
  { without: 'ended values cannot be supplied', profile: troubled },
  { without: 'a restore keeps tombstones', profile: restoring },
  { without: 'sliding life counts every value', profile: sliding },
  { without: 'the sweep judges by the key', profile: sliding, seed: 1250 },
  { without: 'writes are bound to their value', profile: troubled },
  { without: 'writes are bound to the successor', profile: brief },
  { without: 'writes see a brief rotation that began later', profile: brief },
  { without: 'writes are bound to the generation', profile: troubled },
  { without: 'tokens end with a leak', profile: troubled },
  { without: 'tokens of requests in flight end', profile: restoring, seed: 800 },
  { without: 'jobs store a value before they use it', profile: plain },
  { without: 'jobs store a value in time', profile: plain, seed: 1000 },
]
