/** Defines the errors that the program prints, with their exit codes. */

/** 1: the network, the server or this machine failed. 2: wrong usage. 4: the server refused the request. */
export type ExitCode = 1 | 2 | 4

interface ErrorParts {
  exitCode?: ExitCode
  hint?: string
  unavailable?: boolean
  retryAfter?: number | undefined
  cause?: unknown
}

/** Ends the program with a message for its user. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: ExitCode
  /** What to do next, as one sentence or several lines. */
  readonly hint: string | undefined
  /** Whether nothing was decided, because the network or the server failed. */
  readonly unavailable: boolean
  /** Seconds after which the server wants to be asked again, if it says so. */
  readonly retryAfter: number | undefined
  /** Looks for what to do next, once the error is final. It may ask the server, and never fails. */
  guess: (() => Promise<string | undefined>) | undefined

  constructor(message: string, { exitCode = 1, hint, unavailable = false, retryAfter, cause }: ErrorParts = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.hint = hint
    this.unavailable = unavailable
    this.retryAfter = retryAfter
  }
}

/** Reports whether what ended with this error may succeed later. What the server or the usage decides does not. */
export const isPassing = (error: unknown): error is CliError =>
  error instanceof CliError && (error.unavailable || error.exitCode === 1)

/** Reports a wrong call. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super(message, { exitCode: 2, ...(hint !== undefined && { hint }) })
  }
}
