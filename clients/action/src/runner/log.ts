/** Writes to the log of a job by the commands that the runner reads from standard output. */

export interface Log {
  /** Hides a text in everything that the job prints from now on. */
  mask(secret: string): void
  error(message: string): void
  warning(message: string): void
  info(message: string): void
}

/** Longer texts of a server are cut. */
const MAX_CHARACTERS = 4000

/** Returns a log whose texts reach the runner as data, never as another command. */
export const runnerLog = (write: (text: string) => void): Log => ({
  mask(secret) {
    // The runner compares single lines.
    for (const text of new Set([secret, ...secret.split(/[\r\n]+/)])) {
      if (text.trim() !== '') write(`::add-mask::${commandData(text)}\n`)
    }
  },
  error: (message) => write(`::error title=keyplane::${commandData(printable(message))}\n`),
  warning: (message) => write(`::warning title=keyplane::${commandData(printable(message))}\n`),
  info: (message) => write(`${printable(message).replaceAll('\n', ' ').replaceAll('##[', '## [')}\n`),
})

/** Encodes the text of a command as the runner decodes it. */
const commandData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

/** Returns the text without control characters, which could rewrite what a terminal or a log shows. */
export const printable = (text: string): string =>
  text
    .slice(0, MAX_CHARACTERS)
    .replaceAll('\r\n', '\n')
    .replace(/[^\P{C}\n]/gu, '?')
