/** Translates failures to Statuses: one rule for everything that answers requests. */
import { deadlineExceeded } from '../meta/errors/deadline.ts'
import {
  expired,
  insufficientStorage,
  internalError,
  requestEntityTooLarge,
  StatusError,
  serviceUnavailable,
  tooLargeResourceVersion,
  tooManyRequests,
  undecided,
} from '../meta/errors/status.ts'
import { StorageError, type StorageErrorCode } from '../storage/errors.ts'
import { OutOfTime } from './parallel.ts'

/** Retry-After if the store was busy: its backoff has already waited some seconds. */
const retryAfterSeconds = 1

/**
 * Returns the Status of a failure: of itself, of the store, or a 500 that reveals nothing. `requested` has the exact digits of the
 * requested revision, which the store may have rounded.
 */
export function toStatusError(error: unknown, requested?: string): StatusError {
  if (error instanceof StatusError) return error
  // The timer of the request may be late.
  if (error instanceof OutOfTime) return deadlineExceeded(error)
  return error instanceof StorageError ? statuses[error.code](error, requested ?? error.message) : internalError(error)
}

const statuses: Readonly<Record<StorageErrorCode, (error: StorageError, requested: string) => StatusError>> = {
  Expired: () => expired('The resourceVersion for the provided list is too old.'),
  TooNew: ({ current }, requested) => tooLargeResourceVersion(requested, String(current), retryAfterSeconds),
  TooLarge: () => requestEntityTooLarge('the object is larger than the store can hold'),
  TooManyCompanions: () => requestEntityTooLarge('the object has more references than one write can hold'),
  Busy: () =>
    tooManyRequests('the object is changed by too many requests at once, please try again', retryAfterSeconds),
  Full: (error) => insufficientStorage('the write was not made', error),
  Unavailable: (error) => serviceUnavailable('the store is not available, please try again', retryAfterSeconds, error),
  Undecided: (error) => undecided('it is not known whether the request was done', error),
  TooLate: deadlineExceeded,
  CompanionExists: internalError,
  CompanionChanged: internalError,
}

/** Returns the result of a write, or undefined if the object is gone (404), or is another one or has changed by now (409). */
export async function unlessLost<T>(write: () => Promise<T>): Promise<T | undefined> {
  try {
    return await write()
  } catch (error) {
    if (error instanceof StatusError && [404, 409].includes(error.status.code)) return undefined
    throw error
  }
}

/** Reports whether a write failed because a condition that its guard has added does not hold. */
export const isGuardFailed = (error: unknown): boolean =>
  error instanceof StorageError && error.code === 'CompanionChanged'
