/** Defines the errors that the program prints, with their exit codes. */

/** 1: the network, the server or this machine failed. 2: wrong usage. 4: the server refused the request. */
export type ExitCode = 1 | 2 | 4

/** Ends the program with a message for its user. */
export class CliError extends Error {
  override readonly name: string = 'CliError'
  readonly exitCode: ExitCode
  /** What to do next, as one sentence or several lines. */
  readonly hint: string | undefined

  constructor(
    message: string,
    { exitCode = 1, hint, cause }: { exitCode?: ExitCode; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.exitCode = exitCode
    this.hint = hint
  }
}

/** Reports a wrong call. */
export class UsageError extends CliError {
  override readonly name = 'UsageError'

  constructor(message: string, hint?: string) {
    super(message, { exitCode: 2, ...(hint !== undefined && { hint }) })
  }
}
