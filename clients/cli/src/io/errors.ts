/** Defines the errors that the program prints, with their exit codes. */

/** 1: the network, the server or this machine failed. 2: wrong usage. 4: the server refused the request. */
export type ExitCode = 1 | 2 | 4

interface ErrorParts {
  exitCode?: ExitCode
  hint?: string
  unavailable?: boolean
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

  constructor(message: string, { exitCode = 1, hint, unavailable = false, cause }: ErrorParts = {}) {
    super(message, { cause })
    this.exitCode = exitCode
    this.hint = hint
    this.unavailable = unavailable
  }
}

/** Reports a wrong call. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super(message, { exitCode: 2, ...(hint !== undefined && { hint }) })
  }
}
