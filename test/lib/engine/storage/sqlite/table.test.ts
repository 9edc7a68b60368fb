/** Tests the file of a table: that commits reach the disk, which files are refused, and that items expire. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from '../../../../../lib/engine/storage/sqlite/database.ts'
import { itemsOf } from '../../../../../lib/engine/storage/sqlite/sqlite.ts'
import { openTable, tableIn } from '../../../../../lib/engine/storage/sqlite/table.ts'

let folder: string
let path: string
const always = Number.POSITIVE_INFINITY

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyplane-'))
  path = join(folder, 'table.db')
})
afterEach(() => rmSync(folder, { recursive: true }))

const writer = join(import.meta.dirname, 'writer.ts')

describe('a commit', () => {
  test('is synchronized with the disk, by the settings of the open connection', () => {
    const database = openDatabase(path)
    const setting = (name: string) => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0]
    expect([setting('journal_mode'), setting('synchronous'), setting('fullfsync')]).toEqual(['wal', 2, 1])
    database.close()
  })

  const hasStrace = (() => {
    try {
      return execFileSync('strace', ['-V']).length > 0
    } catch {
      return false
    }
  })()

  // A killed process cannot show that an fsync is missing: the system keeps what it has written.
  test.skipIf(!hasStrace)('of many writes is one fsync, and each commit has one', async () => {
    const fsyncs = (groups: string) => {
      const file = join(folder, `${groups}.db`)
      openTable(file, Date.now).close()
      const trace = join(folder, 'trace')
      const options = ['-f', '-y', '-qq', '-e', 'trace=fsync,fdatasync', '-o', trace]
      execFileSync('strace', [...options, process.execPath, writer, file, groups])
      const lines = readFileSync(trace, 'utf8').split('\n')
      // Of a path, strace writes letters beyond ASCII as octal numbers.
      return lines.filter((line) => line.includes(`/${groups}.db-wal`)).length
    }
    // The first commit of a process also synchronizes the head of the log.
    expect([fsyncs('5'), fsyncs('25')]).toEqual([6, 26])
  })

  test('survives a killed process', async () => {
    const child: ChildProcess = spawn(process.execPath, [writer, path, '1000000'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    for await (const chunk of child.stdout ?? []) {
      printed += chunk
      if (printed.split('\n').length > 200 && !child.killed) child.kill('SIGKILL')
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    const acknowledged = printed.split('\n').slice(0, -1)
    const table = openTable(path, Date.now)
    const missing = acknowledged.filter((sk) => table.rows.get({ pk: 'p', sk }) === undefined)
    table.close()
    expect([missing, acknowledged.length >= 200]).toEqual([[], true])
  })
})

// As a quota does, the limit fails writes in another way than a full disk.
test.skipIf(process.platform === 'win32')('a write that the system refuses is full, and has no effect later', () => {
  const limited = ['-c', 'ulimit -f 200; exec "$@"', 'sh', process.execPath, writer, path, '1000']
  const printed = execFileSync('sh', limited, { encoding: 'utf8' }).trim().split('\n')
  const table = openTable(path, Date.now)
  const stored = table.rows.range('p', { low: Buffer.of(), high: Buffer.of(255) }, 10_000).map(([, , , sk]) => sk)
  table.close()
  expect([...stored, 'full'].sort()).toEqual(printed.sort())
  expect(stored.length).toBeGreaterThan(1)
})

describe('a file', () => {
  const opening = () => openTable(path, Date.now).close()

  test('keeps its items, and only its owner can read it', async () => {
    const first = openTable(path, Date.now)
    await itemsOf(first, Date.now).write({ type: 'put', item: { pk: 'p', sk: 's', n: 1 } }, always)
    const modes = ['', '-wal', '-shm'].map((suffix) => statSync(path + suffix).mode & 0o777)
    first.close()
    const second = openTable(path, Date.now)
    expect([second.rows.get({ pk: 'p', sk: 's' }), modes]).toEqual([{ pk: 'p', sk: 's', n: 1 }, [0o600, 0o600, 0o600]])
    second.close()
  })

  test('that is not a database is refused', () => {
    writeFileSync(path, 'no database '.repeat(1000))
    expect(opening).toThrow('file is not a database')
  })

  test('that is damaged is refused', async () => {
    const table = openTable(path, Date.now)
    const text = 'x'.repeat(10_000)
    const items = itemsOf(table, Date.now)
    await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        items.write({ type: 'put', item: { pk: 'p', sk: String(n), text } }, always),
      ),
    )
    table.close()
    const bytes = readFileSync(path)
    const page = 8192
    writeFileSync(path, bytes.fill(0, page, 2 * page))
    expect(opening).toThrow('is damaged')
  })

  test('of the schema without revisions is read, with its tombstones', async () => {
    const row = { pk: 'w#o', rv: 3 }
    const bodies: Record<string, string> = {
      live: JSON.stringify({ ...row, sk: 'live', object: '{}' }),
      tagged: JSON.stringify([{ ...row, sk: 'tagged', object: { B: 'AQ==' } }]),
      gone: JSON.stringify({ ...row, sk: 'gone', rv: 4, gone: true, expires: 9e9 }),
    }
    const database = new DatabaseSync(path)
    database.exec(`
      CREATE TABLE items (pk TEXT NOT NULL, sk TEXT NOT NULL, body TEXT NOT NULL, bytes INTEGER NOT NULL, expires INTEGER,
        expiryIndex TEXT, expiry REAL, UNIQUE (pk, sk)) STRICT;
      PRAGMA user_version = 1`)
    const put = database.prepare("INSERT INTO items (pk, sk, body, bytes) VALUES ('w#o', ?, ?, 9)")
    for (const [sk, body] of Object.entries(bodies)) put.run(sk, body)
    database.close()
    const table = openTable(path, Date.now)
    const items = itemsOf(table, Date.now)
    const read = async (upTo: number) =>
      (await items.query({ pk: 'w#o', unneeded: { upTo, text: 'a' } })).items.map(({ sk }) => sk)
    expect([await read(4), await read(3)]).toEqual([
      ['live', 'tagged'],
      ['gone', 'live', 'tagged'],
    ])
    expect(await items.batchGet(Object.keys(bodies).map((sk) => ({ pk: 'w#o', sk })))).toEqual([
      { ...row, sk: 'live', object: '{}' },
      { ...row, sk: 'tagged', object: new Uint8Array([1]) },
      { ...row, sk: 'gone', rv: 4, gone: true, expires: 9e9 },
    ])
    table.close()
    opening()
  })

  test('of another release is refused, and stays as it is', () => {
    opening()
    const database = new DatabaseSync(path)
    database.exec('PRAGMA user_version = 7')
    database.close()
    const before = readFileSync(path)
    expect(opening).toThrow('has the data of another release')
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  test('of another program is refused', () => {
    const database = new DatabaseSync(path)
    database.exec('CREATE TABLE theirs (a)')
    database.close()
    expect(opening).toThrow('has the data of another release')
  })
})

test('a removal of expired items that fails fails no write', async () => {
  const database = openDatabase(':memory:')
  database.exec("CREATE TRIGGER keep BEFORE DELETE ON items BEGIN SELECT RAISE(ABORT, 'kept'); END")
  const table = tableIn(database, Date.now)
  await itemsOf(table, Date.now).write({ type: 'put', item: { pk: 'p', sk: 'gone', expires: 1 } }, always)
  await new Promise(setImmediate)
  expect(table.rows.get({ pk: 'p', sk: 'gone' })).toMatchObject({ expires: 1 })
  await itemsOf(table, Date.now).write({ type: 'put', item: { pk: 'p', sk: 'next' } }, always)
  table.close()
})

test('items are removed after they have expired, within minutes of writes', async () => {
  let now = 1_000_000
  const table = openTable(':memory:', () => now)
  const items = itemsOf(table, () => now)
  const put = (sk: string, more = {}) => items.transact([{ type: 'put', item: { pk: 'p', sk, ...more } }], always)
  await put('kept', { expires: 2000 })
  await put('soon', { expires: 1030.5 })
  await put('text', { expires: '1' })
  await put('never')
  const left = async () => {
    // The removal follows the write.
    await new Promise(setImmediate)
    return (await items.query({ pk: 'p' })).items.map(({ sk }) => sk)
  }
  now = 1_030_000
  await put('a')
  expect(await left()).toEqual(['a', 'kept', 'never', 'soon', 'text'])
  now += 61_000
  await put('a')
  expect(await left()).toEqual(['a', 'kept', 'never', 'text'])
  now -= 500_000
  await put('later', { expires: 1 })
  expect(await left()).toEqual(['a', 'kept', 'never', 'text'])
  table.close()
})
