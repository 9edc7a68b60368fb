/**
 * Runs seeded adversarial schedules against the whole protocol, and against the protocol without each of its rules, which
 * must fail.
 */
import { describe, expect, test } from 'vitest'
import { ItemsFault } from '../../../../lib/engine/storage/items.ts'
import { storageOver } from '../../../../lib/engine/storage/protocol/storage.ts'
import type { Edit } from '../../../support/editedmodules.ts'
import { played, seed, soak } from '../../../support/effort.ts'
import { mutants } from './adversary/mutants.ts'
import {
  clearing,
  counting,
  expiring,
  lagging,
  making,
  naming,
  type Profile,
  plain,
  recreating,
  runSchedule,
  type Subject,
} from './adversary/schedule.ts'
import { hurried, loadEdited } from './adversary/subject.ts'
import { runSwaps } from './adversary/swaps.ts'
import cases from './vectors/adversary.cases.json' with { type: 'json' }

/** Returns the seeds that failed, each with its first error. */
async function failures(
  subject: Subject,
  profile: Profile,
  { from, count, enough }: { from: number; count: number; enough: number },
) {
  const failed: { seed: number; violations: string[] }[] = []
  for (let one = from; one < from + count && failed.length < enough; one++) {
    const violations = await runSchedule(one, profile, subject)
    if (violations.length > 0) failed.push({ seed: one, violations: violations.slice(0, 3) })
  }
  return failed
}

const timeout = 300_000

describe('every schedule ends in the state of the log', () => {
  const profiles = { plain, clearing, expiring, lagging, recreating, making, naming, counting }
  // threat: use-7
  test.each([
    ['plain', 60],
    ['expiring', 60],
    ['lagging', 20],
    ['recreating', 60],
    ['clearing', 60],
    ['naming', 60],
    ['making', 60],
    ['counting', 60],
  ] as const)(
    '%s, in a hurry',
    async (name, count) => {
      const subject = await loadEdited(hurried)
      expect(await failures(subject, profiles[name], { from: seed, count: played(count), enough: 5 })).toEqual([])
    },
    timeout,
  )

  test(
    'plain, with the constants as they are',
    async () => {
      const subject = { storageOver, ItemsFault }
      expect(await failures(subject, plain, { from: seed, count: played(60), enough: 5 })).toEqual([])
    },
    timeout,
  )
})

// Their seeds are fixed, so once is enough.
describe.skipIf(soak)('schedules fail without', () => {
  test.each(mutants)('$without', async ({ edits, profile, seed: from = 1 }) => {
    const subject = await loadEdited([...hurried, ...edits])
    expect(await failures(subject, profile, { from, count: 3000, enough: 1 })).not.toEqual([])
  })
})

/** A rule of swaps and the edit that removes it. The first seed is one that detected it once, if detection is rare. */
interface Fault {
  without: string
  seed?: number
  edits: readonly Edit[]
}

describe('swaps of one side item', () => {
  /** Returns the first violations among these schedules. */
  async function violationsOf(subject: Subject, count: number, from = seed): Promise<string[]> {
    for (let one = from; one < from + count; one++) {
      const violations = await runSwaps(one, subject)
      if (violations.length > 0) return [`seed ${one}`, ...violations]
    }
    return []
  }

  test(
    'take effect as they are reported, each upon the one that it read',
    async () => expect(await violationsOf({ storageOver, ItemsFault }, played(100))).toEqual([]),
    timeout,
  )

  test.skipIf(soak).each<Fault>(cases.faults)('fail without $without', async ({ edits, seed: from }) => {
    expect(await violationsOf(await loadEdited(edits), 3000, from)).not.toEqual([])
  })
})
