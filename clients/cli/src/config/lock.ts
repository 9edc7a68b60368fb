/** Takes the locks of this program's files, with errors for its user. */
import { LockError, type LockOptions, withLock } from '../../../core/src/files/lock.ts'
import { CliError } from '../io/errors.ts'
import { unwritable } from './privatefile.ts'

interface Options extends LockOptions {
  /** What to do where the file cannot be written. */
  wayOut: string
}

/** Runs the work while this process holds the lock file. Throws a CliError if it does not get the lock. */
export function locked<T>(file: string, options: Options, work: () => Promise<T>): Promise<T> {
  return withLock(file, options, work).catch((error: unknown) => {
    if (!(error instanceof LockError)) throw error
    if (!error.isHeld) throw unwritable(file, error.cause, options.wayOut)
    const hint = 'Wait until it has finished, or delete this lock if there is none.'
    throw new CliError(error.message, { cause: error, hint })
  })
}
