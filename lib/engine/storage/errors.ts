/** Declares the errors of the store. `registry/storageerrors.ts` translates them to Status. */

export type StorageErrorCode =
  /** A companion with `ifAbsent` exists already. */
  | 'CompanionExists'
  /** An `unchanged` companion does not have the expected attributes. */
  | 'CompanionChanged'
  /** The log no longer reaches back to the requested revision: `current` is a newer one. */
  | 'Expired'
  /** The requested revision (the message) is newer than the newest one, `current`. */
  | 'TooNew'
  /** An item would exceed the store's limits. */
  | 'TooLarge'
  /** The write needs more items than one transaction may have. */
  | 'TooManyCompanions'
  /** The deadline of the request has passed; nothing was written. */
  | 'TooLate'
  /** The write gave up under contention or throttling; nothing was written. */
  | 'Busy'
  /** The store has no room for the write; nothing was written. */
  | 'Full'
  /** The store did not answer; nothing was written. */
  | 'Unavailable'
  /** The store did not answer, and the write may take effect, now or later. */
  | 'Undecided'

/** An error with a code that callers act on. The message is for the log only, except for TooNew. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly current?: number

  constructor(code: StorageErrorCode, message: string, { cause, current }: { cause?: unknown; current?: number } = {}) {
    super(message, { cause })
    this.name = 'StorageError'
    this.code = code
    if (current !== undefined) this.current = current
  }
}
