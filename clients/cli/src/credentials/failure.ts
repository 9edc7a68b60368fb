/** Records that a request for a credential has failed, so that processes that waited for its answer need not ask too. */
import { CliError, type ExitCode } from '../io/errors.ts'
import { readTrusted, remove, replacePrivate } from './cachefolder.ts'

export interface Failure {
  /** The flight that failed. */
  flight: string
  /** Unix milliseconds. */
  at: number
  message: string
  hint?: string
  exitCode: ExitCode
  /** Whether nothing was decided, because the network or the server failed. */
  unavailable: boolean
}

/** How long a server that failed is not asked again while there is a credential to use. */
const REST_MILLISECONDS = 10_000

const fileOf = (name: string): string => `${name}.failed`

/** Writes the record. Throws the error of the file system. */
export function writeFailure(folder: string, name: string, failure: Failure): void {
  replacePrivate(folder, fileOf(name), `${JSON.stringify(failure)}\n`)
}

export const removeFailure = (folder: string, name: string): boolean => remove(folder, fileOf(name))

/** Returns the last failure. Returns undefined if there is none, or the record is not to be trusted. */
export function readFailure(folder: string, name: string): Failure | undefined {
  try {
    const { flight, at, message, hint, exitCode, unavailable } = JSON.parse(
      readTrusted(folder, fileOf(name)) ?? '',
    ) as Record<string, unknown>
    if (typeof flight !== 'string' || typeof at !== 'number' || typeof message !== 'string') return undefined
    if (typeof unavailable !== 'boolean') return undefined
    if (exitCode !== 1 && exitCode !== 2 && exitCode !== 4) return undefined
    return { flight, at, message, exitCode, unavailable, ...(typeof hint === 'string' && { hint }) }
  } catch {
    return undefined
  }
}

/** Reports whether the failure is so recent that the server is not asked again while an older credential can be used. */
export const isRecent = ({ at }: Failure, now: Date): boolean => Math.abs(now.getTime() - at) < REST_MILLISECONDS

export const errorOf = ({ message, hint, exitCode, unavailable }: Failure): CliError =>
  new CliError(message, { exitCode, unavailable, ...(hint !== undefined && { hint }) })
