/** Converts the errors of SQLite to faults of the item operations. */
import { type FaultKind, ItemsFault } from '../items.ts'

/**
 * SQLite's codes for a file that another process is writing to, for a full disk, and for a write that the system refuses for another
 * reason, such as a quota. A transaction whose pages are not all in the log has no effect, not even after a crash. An fsync that
 * fails leaves that open. Source: https://www.sqlite.org/rescode.html
 */
const BUSY = 5
const FULL = 13
const IOERR_WRITE = 778

/** Returns the fault that an error of SQLite is, and any other error unchanged. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  return new ItemsFault(kindOf(Number(error.errcode)), error)
}

function kindOf(code: number): FaultKind {
  if (code === IOERR_WRITE) return 'full'
  const primary = code & 0xff
  return primary === BUSY ? 'throttled' : primary === FULL ? 'full' : 'unanswered'
}
