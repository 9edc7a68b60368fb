/** Reports in one sentence why the local server cannot start. Never printed with a stack trace. */
export class StartupError extends Error {
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause })
    this.name = 'StartupError'
  }
}
