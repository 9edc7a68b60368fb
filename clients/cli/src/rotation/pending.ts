/** Makes the new value of a rotation pending, or finds out what became of the value of a run that was killed. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import type { KeyValue } from '../../../core/src/objects.ts'
import { StatusError } from '../api/status.ts'
import { CliError } from '../io/errors.ts'
import { note } from '../output/messages.ts'
import { refusalOf } from './refusal.ts'
import { continuation, type Run } from './run.ts'
import { lookAt, ownerOf, type Precondition, type RotationSpec, requestRotation, type ShownKey } from './server.ts'
import { forget, type Unfinished } from './unfinished.ts'

/**
 * The age from which a job replaces a pending value by itself. The server has the same rule for keys that rotate themselves.
 * Twice the longest time in which a run stores a value.
 */
const ABANDONED_MILLISECONDS = 3600_000

/** How the value of a rotation stands. */
export type Standing =
  | { state: 'pending'; requestedAt: string }
  /** It is in use, and must be stored once more. */
  | { state: 'current' }
  /** It is in use and stored. */
  | { state: 'stored'; isOverlap: boolean }
  /** It is dead, or must not be stored any more. */
  | { state: 'ended' }

/** Makes the value pending unless it was. Throws a CliError if the key cannot be rotated. */
export async function demandValue(run: Run, unfinished: Unfinished): Promise<Standing> {
  const { session, name, replace, file } = run
  const { key, overlapSeconds, requestedAt } = unfinished
  const spec = { key, overlapSeconds, ...(replace && { replace }) }
  try {
    return pendingOf(await requestRotation(session, name, spec))
  } catch (error) {
    if (!isRefusal(error)) throw unanswered(name, error)
    const wasPending = requestedAt !== undefined
    if (wasPending && (error.code === 409 || error.code === 422)) return await standingOf(run, unfinished)
    const shown = error.code === 409 ? await lookAt(session, name) : undefined
    const precondition = shown && (await replaceable(run, spec, shown))
    if (precondition) return await replaceAbandoned(run, spec, precondition)
    if (!wasPending || error.code === 404) await forget(file)
    throw refusalOf(error, name, shown)
  }
}

const pendingOf = ({ status }: JsonObject): Standing => {
  const { requestedAt } = (status ?? {}) as { requestedAt?: unknown }
  return { state: 'pending', requestedAt: String(requestedAt) }
}

/** Reports whether the server has decided against a request. What may pass is no refusal. */
export const isRefusal = (error: unknown): error is StatusError => error instanceof StatusError && !error.unavailable

function unanswered(name: string, error: unknown): unknown {
  if (!(error instanceof CliError)) return error
  const hint = [error.hint, `It is not known whether the key was rotated. ${continuation(name)}`]
  return new CliError(error.message, { exitCode: error.exitCode, hint: hint.filter(Boolean).join('\n'), cause: error })
}

/**
 * Returns how a value stands that was pending and is so no more. If it lives, somebody has used it, and has it from the store.
 * It must not be stored once more when a later rotation has replaced it there, and when nobody can say so.
 */
async function standingOf({ session, name, command, oldValue }: Run, unfinished: Unfinished): Promise<Standing> {
  const { key, requestedAt, stored } = unfinished
  const owner = key === (await session.key()) ? name : await ownerOf(session, key)
  if (owner !== name) return { state: 'ended' }
  const shown = await lookAt(session, name)
  if (shown === undefined) return { state: 'stored', isOverlap: true }
  const { current, retiring } = shown
  // Another value may have been made in the same second. Release 0.1.0 shows the end of values that the server made, and of no other.
  const isThis = ({ made, hint = '' }: KeyValue) => made === requestedAt && key.endsWith(hint)
  if (!current || !isThis(current) || (retiring && isThis(retiring))) return { state: 'ended' }
  const isStored = stored || (!command && oldValue === key)
  return isStored ? { state: 'stored', isOverlap: retiring !== undefined } : { state: 'current' }
}

/**
 * Returns the state of the key in which its pending value may be replaced although nobody asked for that: a job may do so that
 * was given the stored value, once the pending one is an hour old. The job has just used its value, which is not the pending
 * one. So that one is not stored, and a run that has made it and lives would have stored it within half an hour. The age is
 * measured by the clock of the server. The precondition holds the key in the state that was judged.
 */
async function replaceable(run: Run, spec: RotationSpec, shown: ShownKey): Promise<Precondition | undefined> {
  const { session, name, hasStoredValue } = run
  const { resourceVersion, pending } = shown
  if (!hasStoredValue || resourceVersion === undefined || pending?.made === undefined) return undefined
  const precondition = { resourceVersion }
  const asked = requestRotation(session, name, { ...spec, replace: true }, { dryRun: true, precondition })
  const { status } = await asked.catch((error: unknown) => {
    throw isRefusal(error) ? refusalOf(error, name, shown) : error
  })
  const { requestedAt = '' } = (status ?? {}) as { requestedAt?: string }
  return Date.parse(requestedAt) - Date.parse(pending.made) >= ABANDONED_MILLISECONDS ? precondition : undefined
}

async function replaceAbandoned(run: Run, spec: RotationSpec, precondition: Precondition): Promise<Standing> {
  const { io, session, name } = run
  note(
    io,
    `A value of access key "${name}" was made over an hour ago, and has not been used or stored. It is replaced.`,
  )
  const asked = requestRotation(session, name, { ...spec, replace: true }, { precondition })
  const rotation = await asked.catch((error: unknown) => {
    if (!isRefusal(error)) throw unanswered(name, error)
    if (error.code !== 409) throw error
    // Perhaps it is the repetition of a request whose answer was lost. Then the value is pending.
    return requestRotation(session, name, spec).catch(() => {
      throw error
    })
  })
  return pendingOf(rotation)
}
