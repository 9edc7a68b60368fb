/** Opens the file of a table, so that a commit is on the disk before it is acknowledged. */
import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * One row per item: its keys, its attributes (`encoding.ts`), its size, its revision if it has one, and what the index needs. A table
 * with row ids, because SQLite keeps items of the usual size in one page then, and writes a create for half the CPU.
 */
const items = `
  CREATE TABLE items (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    body TEXT NOT NULL,
    object TEXT,
    bytes INTEGER NOT NULL,
    expires INTEGER,
    expiryIndex TEXT,
    expiry REAL,
    rv INTEGER,
    UNIQUE (pk, sk)
  ) STRICT;
  CREATE INDEX expires ON items (expires) WHERE expires IS NOT NULL;
  CREATE INDEX expiry ON items (expiryIndex, expiry, pk, sk) WHERE expiryIndex IS NOT NULL AND expiry IS NOT NULL;
`

/** Tombstones with a revision are apart, so that a list reads only those that it needs: the newest. */
const tombstones = `
  CREATE TABLE tombstones (
    pk TEXT NOT NULL,
    sk TEXT NOT NULL,
    body TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    expires INTEGER,
    rv INTEGER NOT NULL,
    UNIQUE (pk, sk)
  ) STRICT;
  CREATE INDEX revisions ON tombstones (pk, rv);
  CREATE INDEX ends ON tombstones (expires) WHERE expires IS NOT NULL;
`

/** The version of the schema. A file of a later version, or of another program, is refused. */
const version = 2

/** Version 1 had no revisions, no texts of objects apart, and no table of tombstones. A body that is an array has one object, which is the item. */
const fromVersion1 = `
  ALTER TABLE items ADD COLUMN object TEXT;
  ALTER TABLE items ADD COLUMN rv INTEGER;
  UPDATE items SET rv = COALESCE(body ->> '$.rv', body ->> '$[0].rv')
    WHERE COALESCE(json_type(body, '$.rv'), json_type(body, '$[0].rv')) = 'integer';
  ${tombstones}
  INSERT INTO tombstones SELECT pk, sk, body, bytes, expires, rv FROM items
    WHERE rv IS NOT NULL AND expiryIndex IS NULL AND json_type(body, '$.gone') = 'true' AND json_type(body, '$.object') IS NULL;
  DELETE FROM items WHERE (pk, sk) IN (SELECT pk, sk FROM tombstones);
`

/** What is wrong with a file that SQLite can open. */
const problems = {
  damaged: 'is damaged',
  foreign: 'has the data of another release',
  unsafe: 'is on a file system that cannot hold it safely',
}

/** Refuses a file. Its message completes the sentence "The file …". */
export class UnusableFile extends Error {
  readonly problem: keyof typeof problems

  constructor(problem: keyof typeof problems) {
    super(problems[problem])
    this.problem = problem
  }
}

/**
 * Opens a file, which it creates if it is absent, or with `:memory:` a table that lives as long as the process. Throws an
 * UnusableFile, and the errors of the file system and of SQLite.
 */
export function openDatabase(path: string): DatabaseSync {
  // SQLite gives the files beside it the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
  // Without a timeout: the protocol waits better than SQLite, which would stop the whole process.
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    makeDurable(database, path === ':memory:' ? 'memory' : 'wal')
    prepareSchema(database)
  } catch (error) {
    database.close()
    throw error
  }
  return database
}

/** With a write-ahead log and `FULL`, each commit is one write and one fsync. On macOS, only `fullfsync` reaches the disk. */
function makeDurable(database: DatabaseSync, mode: string): void {
  // A list reads rows that lie between those of the log: with the usual cache of 2 MB, it would read most pages again each time.
  database.exec('PRAGMA page_size = 8192; PRAGMA cache_size = -65536')
  const { journal_mode: found } = database.prepare('PRAGMA journal_mode = WAL').get() ?? {}
  if (found !== mode) throw new UnusableFile('unsafe')
  database.exec('PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON')
}

function prepareSchema(database: DatabaseSync): void {
  const { user_version: found } = database.prepare('PRAGMA user_version').get() ?? {}
  const isEmpty = found === 0 && database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined
  const changes = isEmpty ? items + tombstones : found === 1 ? fromVersion1 : undefined
  if (!changes && found !== version) throw new UnusableFile('foreign')
  // SQLite itself would report damage only when it reads the page.
  const { quick_check: verdict } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
  if (verdict !== 'ok') throw new UnusableFile('damaged')
  if (changes) database.exec(`BEGIN; ${changes} PRAGMA user_version = ${version}; COMMIT`)
}
