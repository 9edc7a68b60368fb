/** Writes JSON log lines to standard output, where Lambda collects them. Bodies and headers never reach this module. */
import type { Measured } from './metrics.ts'

export type LogFields = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>

/** Writes one log line. `measured` becomes metrics of the deployment. */
export type Log = (level: 'info' | 'error', message: string, fields: LogFields, measured?: readonly Measured[]) => void

/** Returns a log that passes whole lines to `write`. `embed` returns the members of a line that contain metrics. */
export const createLog =
  (write: (line: string) => void, embed: (measured: readonly Measured[]) => object): Log =>
  (level, message, fields, measured) =>
    write(`${JSON.stringify({ level, message, ...fields, ...(measured && embed(measured)) })}\n`)
