/**
 * Plays schedules of everybody who has to do with a rotation against the code of lib/, where the schedule decides which call of
 * the table is next, and against the code without each of its rules, which must fail.
 */
import { readFile } from 'node:fs/promises'
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsIn } from '../../../lib/storage/dynamodb/dynamodb.ts'
import type { Items } from '../../../lib/storage/items.ts'
import { connect, startDynamoDB, type TestDynamoDB, tableDefinition } from '../../support/dynamodb.ts'
import { played, seed, soak } from '../../support/effort.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
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
  table?(now: () => number): Promise<Items>
  of?: Subject
}

/** Returns the first seeds that fail, each with its first violation. */
async function failures(
  profile: Profile,
  { from, count, enough, of = subject, table = async (now) => createMemoryItems(now) }: Range,
) {
  const failed: { seed: number; violation: string | undefined }[] = []
  for (let one = from; one < from + count && failed.length < enough; one++) {
    const [violation] = await playReal(one, profile, { subject: of, table })
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

describe('rotations over DynamoDB keep it, too', () => {
  let dynamodb: TestDynamoDB
  beforeAll(async () => {
    dynamodb = await startDynamoDB()
  }, 60_000)
  afterAll(() => dynamodb?.stop())

  let count = 0
  /** Returns a new table. A client may not have sent anything before it has deadlines. */
  async function table(now: () => number): Promise<Items> {
    const TableName = `rotation-${++count}`
    if (count > 1) await dynamodb.client.send(new DeleteTableCommand({ TableName: `rotation-${count - 1}` }))
    await dynamodb.client.send(new CreateTableCommand({ ...tableDefinition, TableName }))
    return itemsIn(connect(dynamodb.endpoint), TableName, now)
  }

  test.each(soak ? Object.entries(profiles) : [['plain', plain] as const])(
    '%s',
    async (_, profile) =>
      expect(await failures(profile, { from: seed, count: played(10), enough: 5, table })).toEqual([]),
    timeout,
  )
})

describe('schedules fail without the rule that', () => {
  // Each is a search of its own. `npm test` makes a third of them.
  test.each(mutants.filter((_, index) => soak || index % 3 === 0))(
    '$without',
    async (mutant) => {
      const { profile, seed: from } = mutant
      const of = await loadSubject(mutant)
      expect(await failures(profile, { from, count: 1000, enough: 1, of })).not.toEqual([])
    },
    120_000,
  )

  test('README.md explains', async () => {
    const text = await readFile(new URL('../../../lib/authentication/README.md', import.meta.url), 'utf8')
    const rules = [...text.matchAll(/^\| ([a-z][^|]*?) \| [^|]+\|$/gmu)].map(([, rule]) => rule)
    expect(rules).toEqual(expect.arrayContaining(mutants.map(({ without }) => without)))
  })
})
