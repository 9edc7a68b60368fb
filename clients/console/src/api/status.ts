/** Puts errors of the API and of the network into words. */
import { causesOf, mayBeMade, type Status } from '../../../core/src/answers.ts'

/** The API refused a request or failed. */
export class ApiError extends Error {
  readonly code: number
  readonly status: Partial<Status>

  constructor(code: number, status: Partial<Status>) {
    super(status.message ?? `The server answered with code ${code}.`)
    this.name = 'ApiError'
    this.code = code
    this.status = status
  }
}

/** No answer came: the network, the server or a time limit. Whether the request had an effect is unknown. */
export class NetworkError extends Error {
  constructor(cause: unknown) {
    super('The server cannot be reached.', { cause })
    this.name = 'NetworkError'
  }
}

/** Reports whether a request may have had an effect in spite of its error: the answer was lost, or says nothing of that. */
export const isUncertain = (error: unknown): boolean =>
  !(error instanceof ApiError) || mayBeMade(error.code) || error.code < 400

/** An error for people: what happened, the details, and what to do next. */
export interface ErrorWords {
  title: string
  details: readonly string[]
  next?: string
}

/** A failure that has its words. */
export class KnownError extends Error {
  readonly words: ErrorWords

  constructor(words: ErrorWords) {
    super(words.title)
    this.name = 'KnownError'
    this.words = words
  }
}

/** What a code means and what to do about it. The message of the server follows. */
const MEANINGS: Readonly<Record<number, [title: string, next?: string]>> = {
  400: ['The request is not valid.'],
  401: ['This access key is not accepted.', 'Paste all of it, or sign in with another one.'],
  403: ['Your access key does not allow this.', 'Ask who gave you the key, or sign in with another one.'],
  404: ['It does not exist any more.', 'Someone else may have deleted it.'],
  409: ['Someone else changed it at the same time.', 'Look at it, then try again.'],
  413: ['The request is too large.'],
  422: ['Some of the values are not valid.'],
  429: ['Too many requests.', 'Wait a moment, then try again.'],
  503: ['The server cannot answer at the moment.', 'Try again.'],
  504: ['The server took too long.', 'It may have been done: look before you try again.'],
  507: ['The server has no room to store this.'],
}

/** Returns the words for any error. Causes of an invalid request are named with their fields. */
export function errorWords(error: unknown): ErrorWords {
  if (error instanceof KnownError) return error.words
  if (error instanceof NetworkError) {
    return { title: error.message, details: [], next: 'Check your network connection, then try again.' }
  }
  if (!(error instanceof ApiError)) {
    return { title: 'The console failed.', details: [error instanceof Error ? error.message : String(error)] }
  }
  const end = error.code === 401 && /access key (has expired|is disabled)/.exec(error.message)
  const [title, next] = end
    ? [`This access key ${end[1]}.`, 'Sign in with another one.']
    : (MEANINGS[error.code] ?? ['The server failed.', 'Try again.'])
  const causes = causesOf(error.status, error.code === 422 ? '' : error.message)
  const details = error.code === 422 && causes.length > 0 ? causes : [error.message, ...causes]
  return { title, details, ...(next !== undefined && { next }) }
}
