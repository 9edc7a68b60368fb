/**
 * Plays schedules of everybody who has to do with a rotation against the code of lib/, where the schedule decides which call of
 * the table is next, and against the code without each of its rules, which must fail.
 */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { played, seed, soak } from '../../support/effort.ts'
import { loadSubject, mutants } from './rotation/mutants.ts'
import { playReal } from './rotation/playreal.ts'
import { type Subject, subject } from './rotation/realsubject.ts'
import { brief, type Profile, plain, sliding, troubled } from './rotation/schedule.ts'

const timeout = 300_000
const profiles = { plain, troubled, brief, sliding }

interface Range {
  from: number
  count: number
  enough: number
  of?: Subject
}

/** Returns the first seeds that fail, each with its first violation. */
async function failures(profile: Profile, { from, count, enough, of = subject }: Range) {
  const failed: { seed: number; violation: string | undefined }[] = []
  for (let one = from; one < from + count && failed.length < enough; one++) {
    const [violation] = await playReal(one, profile, of)
    if (violation !== undefined) failed.push({ seed: one, violation })
  }
  return failed
}

describe('rotations keep what works and what has ended', () => {
  test.each(Object.entries(profiles))(
    '%s',
    async (_, profile) => expect(await failures(profile, { from: seed, count: played(100), enough: 5 })).toEqual([]),
    timeout,
  )
})

describe('schedules fail without the rule that', () => {
  // Each is a search of its own. `npm test` makes a third of them, and `npm run test:soak` the others.
  test.each(mutants.filter((_, index) => soak !== (index % 3 === 0)))('$without', async (mutant) => {
    const { profile, seed: from } = mutant
    const of = await loadSubject(mutant)
    expect(await failures(profile, { from, count: 1000, enough: 1, of })).not.toEqual([])
  })

  test('README.md explains', async () => {
    const text = await readFile(new URL('../../../lib/authentication/README.md', import.meta.url), 'utf8')
    const rules = [...text.matchAll(/^\| ([a-z][^|]*?) \| [^|]+\|$/gmu)].map(([, rule]) => rule)
    expect(rules).toEqual(expect.arrayContaining(mutants.map(({ without }) => without)))
  })
})
