/** One process at a time. */
import { DatabaseSync } from 'node:sqlite'

/** Result code of SQLite: another process has the lock. */
const SQLITE_BUSY = 5

/**
 * Takes the lock and returns what lets go of it; undefined while another process has it. Throws what SQLite throws for a file
 * that cannot be written.
 *
 * It is SQLite's lock on an empty database, because the system drops that whenever and however the process ends: a file with
 * a process id would outlive a crash, and in a container every server has the same id.
 */
export function takeLock(file: string): (() => void) | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
    const held = database
    return () => held.close()
  } catch (error) {
    database?.close()
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined
    throw error
  }
}
