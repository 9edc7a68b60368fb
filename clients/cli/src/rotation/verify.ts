/** Uses a new value once, after it is stored. */
import { duration } from '../../../core/src/durations.ts'
import { CliError } from '../io/errors.ts'
import { isRefusal } from './pending.ts'
import { type Run, sessionWith } from './run.ts'
import { lookAt, useKey } from './server.ts'
import type { Unfinished } from './unfinished.ts'

/**
 * Uses the value, which makes it current: the old one ends after the overlap. Returns what to tell the user; undefined if the
 * value has ended since it became pending.
 */
export async function verify(run: Run, { key, overlapSeconds }: Unfinished): Promise<string | undefined> {
  const { io, session, name, isOwn } = run
  const stored = `The new value of access key "${name}" is stored`
  const owner = await useKey(sessionWith(io, session, key)).catch((error: unknown) => {
    if (isRefusal(error) && (error.code === 401 || error.code === 403)) return error
    throw unverified(name, error)
  })
  if (typeof owner === 'string') {
    const old = overlapSeconds === 0 ? 'has ended' : `works for another ${duration(overlapSeconds)}`
    return `${stored} and works. The old one ${old}.`
  }
  if (owner.code === 403) {
    return `${stored}. This machine may not use it (${owner.message}): the first client that uses it makes it current.`
  }
  const shown = isOwn ? undefined : await lookAt(session, name)
  return shown?.isDisabled ? `${stored}. It works once the key is enabled: keyplane keys enable ${name}` : undefined
}

function unverified(name: string, error: unknown): unknown {
  if (!(error instanceof CliError)) return error
  const { message, exitCode } = error
  const hint = `The new value of access key "${name}" is stored, but perhaps not used yet. Repeat the command.`
  return new CliError(message, { exitCode, hint, cause: error })
}
