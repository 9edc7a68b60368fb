/**
 * Plays seeded schedules of everybody who has to do with a rotation against a model of it, and against the model without
 * each of its rules, which must fail. `SEED=1 SCHEDULES=200000 npx vitest …` sets the first seed and the number.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scheduleCount, seed } from './rotation/chosen.ts'
import { createModel } from './rotation/model.ts'
import { mutants } from './rotation/mutants.ts'
import type { Rule } from './rotation/rules.ts'
import { brief, type Profile, plain, play, restoring, sliding, troubled } from './rotation/schedule.ts'

const timeout = 60_000 + scheduleCount(0) * 5

/** Returns the first seeds that fail, each with its first violation. */
function failures(
  profile: Profile,
  without: ReadonlySet<Rule>,
  range: { from: number; count: number; enough: number },
) {
  const failed: { seed: number; violation: string | undefined }[] = []
  for (let one = range.from; one < range.from + range.count && failed.length < range.enough; one++) {
    const [violation] = play(one, profile, (world) => createModel(world, without), without)
    if (violation !== undefined) failed.push({ seed: one, violation })
  }
  return failed
}

describe('every schedule of a rotation keeps what works and what has ended', () => {
  const profiles = { plain, troubled, brief, sliding, restoring }
  test.each([
    ['plain', 4000],
    ['troubled', 2000],
    ['brief', 2000],
    ['sliding', 2000],
    ['restoring', 2000],
  ] as const)(
    '%s',
    (name, count) => {
      expect(failures(profiles[name], new Set(), { from: seed, count: scheduleCount(count), enough: 5 })).toEqual([])
    },
    timeout,
  )
})

describe('schedules of a rotation fail without the rule that', () => {
  test.each(mutants)(
    '$without',
    ({ without, profile, seed: from = 1 }) => {
      expect(failures(profile, new Set([without]), { from, count: 8000, enough: 1 })).not.toEqual([])
    },
    60_000,
  )
})

test('README.md lists every rule that the schedules need', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../lib/authentication/README.md'), 'utf8')
  const rows = [...text.matchAll(/^\| ([a-z][^|]*?) \| [^|]+\|$/gmu)].map(([, rule]) => rule)
  expect(rows.filter((rule) => rule !== 'rule')).toEqual(mutants.map(({ without }) => without))
})
