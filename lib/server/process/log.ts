/** One JSON line per invocation, to standard output, where Lambda collects it. Nothing here sees a body or a header. */
import type { Measured } from './metrics.ts'

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

/** `measured` becomes metrics of the deployment. */
export type Log = (level: 'info' | 'error', message: string, fields: LogFields, measured?: readonly Measured[]) => void

/** `write` gets whole lines; `embed` makes members of a line that hold metrics. */
export const createLog =
  (write: (line: string) => void, embed: (measured: readonly Measured[]) => object): Log =>
  (level, message, fields, measured) =>
    write(`${JSON.stringify({ level, message, ...fields, ...(measured && embed(measured)) })}\n`)
