/** A reason why the local server cannot start, as one sentence for the person at the terminal; never printed with a stack trace. */
export class StartupError extends Error {
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause })
    this.name = 'StartupError'
  }
}
