/**
 * Plays the schedules of the model of rotations with the code of lib/, where the schedule decides which call of the table is
 * next, and with the code without some of its rules, which must fail. `SEED=1 SCHEDULES=5000 npx vitest …` plays more.
 */
import { CreateTableCommand, DeleteTableCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { itemsIn } from '../../../lib/storage/dynamodb/dynamodb.ts'
import type { Items } from '../../../lib/storage/items.ts'
import { connect, startDynamoDB, type TestDynamoDB, tableDefinition } from '../../support/dynamodb.ts'
import { createMemoryItems } from '../../support/memoryitems.ts'
import { scheduleCount, seed } from './rotation/chosen.ts'
import { playReal } from './rotation/playreal.ts'
import { loadSubject, realMutants } from './rotation/realmutants.ts'
import { type Subject, subject } from './rotation/realsubject.ts'
import { brief, type Profile, plain, sliding, troubled } from './rotation/schedule.ts'

const timeout = 60_000 + scheduleCount(0) * 100
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

describe('the code of rotations keeps what works and what has ended', () => {
  test.each(Object.entries(profiles))(
    '%s',
    async (_, profile) => {
      expect(await failures(profile, { from: seed, count: scheduleCount(25), enough: 5 })).toEqual([])
    },
    timeout,
  )
})

describe('the code of rotations over DynamoDB', () => {
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

  test.each(Object.entries(profiles))(
    '%s',
    async (_, profile) => {
      expect(await failures(profile, { from: seed, count: scheduleCount(1), enough: 5, table })).toEqual([])
    },
    timeout * 10,
  )
})

describe('schedules of rotations fail without', () => {
  test.each(realMutants)(
    '$without',
    async ({ edits, profile, seed: from = 1 }) => {
      const of = await loadSubject(edits)
      expect(await failures(profile, { from, count: 1000, enough: 1, of })).not.toEqual([])
    },
    120_000,
  )
})
