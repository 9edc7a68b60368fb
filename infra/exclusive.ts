/** Locks a file, so that one process at a time does some work. */
import { DatabaseSync } from 'node:sqlite'

/** SQLite's result code when another process holds the lock. */
const SQLITE_BUSY = 5

/**
 * Takes the lock and returns a function that releases it, or undefined while another process holds it. Throws SQLite's error
 * for a file that cannot be written.
 *
 * The lock is SQLite's lock on an empty database, which the system releases however the process exits. A file with a process
 * ID would outlive a crash, and in containers every server has the same ID.
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
