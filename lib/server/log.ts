/** One JSON line per invocation, to standard output, where Lambda collects it. Nothing here sees a body or a header. */

export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** The text of an error for the log: its class and message with its causes, never what a client sent. */
export function describeError(error: unknown): string {
  const parts: string[] = []
  for (let one = error, depth = 0; one !== undefined && depth < 5; depth++) {
    if (!(one instanceof Error)) {
      parts.push(typeof one)
      break
    }
    parts.push(`${one.name}: ${one.message}`)
    one = one.cause
  }
  return parts.join(' <- ')
}

export type Log = (level: 'info' | 'error', message: string, fields: LogFields) => void

/** `write` gets whole lines. */
export const createLog =
  (write: (line: string) => void): Log =>
  (level, message, fields) =>
    write(`${JSON.stringify({ level, message, ...fields })}\n`)
