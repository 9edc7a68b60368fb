/** Reports what went wrong to the people who read the log of a job. */

interface Details {
  /** Whether the same request may succeed later. */
  isPassing?: boolean
  /** Seconds after which the server wants to be asked again. */
  retryAfter?: number
  cause?: unknown
}

/** An error whose message says in words what is wrong and what to do. It contains no secret. */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly isPassing: boolean
  readonly retryAfter: number | undefined

  constructor(message: string, { isPassing = false, retryAfter, cause }: Details = {}) {
    super(message, { cause })
    this.isPassing = isPassing
    this.retryAfter = retryAfter
  }
}

/** Returns the message of any error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
