/** Opens a table: a file, or memory, whose expired items are removed. */
import type { DatabaseSync } from 'node:sqlite'
import { openDatabase } from './database.ts'
import { type Commit, groupCommits } from './groupcommit.ts'
import { type Listeners, listeners } from './listeners.ts'
import { type Rows, rowsOf } from './rows.ts'

/** All that use a table in one process share it, so that their writes share commits. */
export interface Table {
  rows: Rows
  commit: Commit
  listeners: Listeners
  /** Call it when nothing waits for a commit. */
  close(): void
}

/** How often expired items are removed after a write, in ms, and the most at once: that blocks the process for some ms. */
const expiryInterval = 60_000
const expiredItems = 500

/** Opens the table in a file, or with `:memory:` an empty one in memory. Throws as `openDatabase` does. `now`: unix ms. */
export const openTable = (path: string, now: () => number): Table => tableIn(openDatabase(path), now)

/** Returns the table of an open database. */
export function tableIn(database: DatabaseSync, now: () => number): Table {
  const rows = rowsOf(database)
  let last = Number.NEGATIVE_INFINITY
  const commitWrite = groupCommits(database)
  /** A commit of its own: when the disk is full, there may be room for the write of a request and not for this one as well. */
  const removeExpired = () =>
    commitWrite(() => rows.removeExpired(Math.floor(now() / 1000), expiredItems)).catch(() => {})
  const commit: Commit = (write) => {
    const written = commitWrite(write)
    // A clock that is set back must not end this.
    if (Math.abs(now() - last) >= expiryInterval) {
      last = now()
      written.then(removeExpired, removeExpired)
    }
    return written
  }
  return { rows, commit, listeners: listeners(), close: () => database.close() }
}
