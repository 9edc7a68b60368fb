/** Converts the errors of SQLite to faults of the item operations. */
import { ItemsFault } from '../items.ts'

/** SQLite's code for a file that another process is writing to. */
const BUSY = 5

/** Returns the fault that an error of SQLite is, and any other error unchanged. */
export function faultOf(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error)) return error
  const isBusy = (Number(error.errcode) & 0xff) === BUSY
  return new ItemsFault(isBusy ? 'throttled' : 'unanswered', error)
}
