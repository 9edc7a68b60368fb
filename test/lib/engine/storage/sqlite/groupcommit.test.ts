/** Tests that writes share commits, that nothing is visible or acknowledged before, and what a failure leaves behind. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ItemsFault } from '../../../../../lib/engine/storage/items.ts'
import { openDatabase } from '../../../../../lib/engine/storage/sqlite/database.ts'
import { faultOf } from '../../../../../lib/engine/storage/sqlite/faults.ts'
import { type Commit, groupCommits } from '../../../../../lib/engine/storage/sqlite/groupcommit.ts'
import { type Rows, rowsOf } from '../../../../../lib/engine/storage/sqlite/rows.ts'

let folder: string
let database: DatabaseSync
let rows: Rows
let commit: Commit
let commits: number
/** Sees only what is in the file. */
let other: DatabaseSync

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyplane-'))
  database = openDatabase(join(folder, 'table.db'))
  rows = rowsOf(database)
  commits = 0
  countCommits()
  commit = groupCommits(database)
  other = openDatabase(join(folder, 'table.db'))
})
afterEach(() => {
  other.close()
  database.close()
  rmSync(folder, { recursive: true })
})

function countCommits(): void {
  const prepare = database.prepare.bind(database)
  database.prepare = (sql) => {
    const statement = prepare(sql)
    if (sql !== 'COMMIT') return statement
    const run = statement.run.bind(statement)
    statement.run = () => {
      commits++
      return run()
    }
    return statement
  }
}

const item = (sk: string, more = {}) => ({ pk: 'p', sk, ...more })
const put = (sk: string, more = {}) => commit(() => rows.put(item(sk, more)))
const stored = (of = database) =>
  of
    .prepare('SELECT sk FROM items ORDER BY sk')
    .all()
    .map(({ sk }) => sk)
const reasonOf = (fault: unknown) => (fault instanceof ItemsFault ? fault.kind : (fault as Error).message)
const outcomes = async (...writes: Promise<unknown>[]) =>
  (await Promise.allSettled(writes)).map((one) =>
    one.status === 'fulfilled' ? 'written' : reasonOf(faultOf(one.reason)),
  )

test('writes of one turn share a commit, in their order', async () => {
  const found = Array.from({ length: 16 }, (_, index) =>
    commit(() => {
      rows.put(item('n', { n: Number(rows.get(item('n'))?.n ?? 0) + 1 }))
      return index
    }),
  )
  expect(await Promise.all(found)).toEqual(Array.from({ length: 16 }, (_, index) => index))
  expect([rows.get(item('n'))?.n, commits]).toEqual([16, 1])
  await put('a')
  await put('b')
  expect(commits).toBe(3)
})

test('a write is invisible before its commit, and on the disk when it is acknowledged', async () => {
  const writing = put('a')
  const seen: unknown[] = []
  await Promise.resolve()
  process.nextTick(() => seen.push(stored(), stored(other)))
  await writing.then(() => seen.push(stored(), stored(other)))
  expect(seen).toEqual([[], [], ['a'], ['a']])
})

test('a write that throws leaves nothing behind, and the others of its commit are written', async () => {
  const failing = commit(() => {
    rows.put(item('b'))
    throw new Error('refused')
  })
  expect(await outcomes(put('a'), failing, put('c'))).toEqual(['written', 'refused', 'written'])
  expect([stored(other), commits]).toEqual([['a', 'c'], 1])
})

test('a commit that fails answers no write, and leaves nothing behind', async () => {
  database.exec('CREATE TABLE owners (id PRIMARY KEY)')
  database.exec('CREATE TABLE owned (id REFERENCES owners DEFERRABLE INITIALLY DEFERRED)')
  const breaking = commit(() => database.exec('INSERT INTO owned VALUES (1)'))
  expect(await outcomes(put('a'), breaking)).toEqual(['unanswered', 'unanswered'])
  expect([stored(), await outcomes(put('b')), stored(other)]).toEqual([[], ['written'], ['b']])
})

test('a full disk fails the writes that it has no room for, and nothing is written of them', async () => {
  await put('a')
  const { page_count: pages } = database.prepare('PRAGMA page_count').get() ?? {}
  database.exec(`PRAGMA max_page_count = ${pages}`)
  expect(await outcomes(put('b', { text: 'x'.repeat(100_000) }))).toEqual(['full'])
  expect(stored(other)).toEqual(['a'])
  database.exec('PRAGMA max_page_count = 100000')
  expect(await outcomes(put('b', { text: 'x'.repeat(100_000) }))).toEqual(['written'])
  expect(stored(other)).toEqual(['a', 'b'])
})

test('a file that another process writes to refuses the writes, and none waits', async () => {
  other.exec('BEGIN IMMEDIATE')
  expect(await outcomes(put('a'), put('b'))).toEqual(['throttled', 'throttled'])
  other.exec('ROLLBACK')
  expect([await outcomes(put('a')), stored(other)]).toEqual([['written'], ['a']])
})

test('a write to a table that is closed is refused', async () => {
  const writing = outcomes(put('a'))
  database.close()
  expect(await writing).toEqual(['statement has been finalized'])
  database = openDatabase(join(folder, 'table.db'))
  expect(stored()).toEqual([])
})
