/** What can go wrong below the registry. Translated to Status in one place, `registry/errors.ts`. */

export type StorageErrorCode =
  /** A companion with `ifAbsent` exists already: `companion` is its index. */
  | 'CompanionExists'
  /** A companion is not as `unchanged` says: `companion` is its index. */
  | 'CompanionChanged'
  /** The log or the snapshot no longer reaches back to the asked revision: `current` is a newer one. */
  | 'Expired'
  /** The asked revision, which is the message, is newer than the newest: `current` is that one. */
  | 'TooNew'
  /** An item would be larger than the store holds. */
  | 'TooLarge'
  /** Too many companions for one transaction. */
  | 'TooManyCompanions'
  /** The deadline of the request is over; nothing was written. */
  | 'TooLate'
  /** Gave up under contention or throttling; nothing was written. */
  | 'Busy'
  /** The store did not answer; nothing was written. */
  | 'Unavailable'
  /** The store did not answer, and it is not known whether the write was done, or will be. */
  | 'Undecided'

/** A failure that a caller can tell from others by its code; its message is for the log only, but for TooNew. */
export class StorageError extends Error {
  readonly code: StorageErrorCode
  readonly companion?: number
  readonly current?: number

  constructor(
    code: StorageErrorCode,
    message: string,
    options: { cause?: unknown; companion?: number; current?: number } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'StorageError'
    this.code = code
    if (options.companion !== undefined) this.companion = options.companion
    if (options.current !== undefined) this.current = options.current
  }
}
