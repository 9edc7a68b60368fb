/** Translates errors of the store to Status. */
import { deadlineExceeded } from '../meta/errors/deadline.ts'
import {
  expired,
  internalError,
  requestEntityTooLarge,
  type StatusError,
  serviceUnavailable,
  tooLargeResourceVersion,
  tooManyRequests,
  undecided,
} from '../meta/errors/status.ts'
import type { StorageError } from '../storage/errors.ts'

/** Retry-After if the store was busy: its backoff has already waited some seconds. */
const retryAfterSeconds = 1

/**
 * Returns the Status for an error of the store. `requested` has the exact digits of the requested revision, which the store
 * may have rounded.
 */
export function toStatusError(error: StorageError, requested = error.message): StatusError {
  switch (error.code) {
    case 'Expired':
      return expired('The resourceVersion for the provided list is too old.')
    case 'TooNew':
      return tooLargeResourceVersion(requested, String(error.current), retryAfterSeconds)
    case 'TooLarge':
      return requestEntityTooLarge('the object is larger than the store can hold')
    case 'TooManyCompanions':
      return requestEntityTooLarge('the object has more references than one write can hold')
    case 'Busy':
      return tooManyRequests('the object is changed by too many requests at once, please try again', retryAfterSeconds)
    case 'Unavailable':
      return serviceUnavailable('the store is not available, please try again', retryAfterSeconds, error)
    case 'Undecided':
      return undecided('it is not known whether the request was done', error)
    case 'TooLate':
      return deadlineExceeded(error)
    case 'CompanionExists':
    case 'CompanionChanged':
      return internalError(error)
  }
}
