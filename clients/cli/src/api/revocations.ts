/** Revokes access keys in bulk: repeats the request until no key is left. */
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { API, type Session } from './session.ts'

/** What is revoked, and how: the spec of an AccessKeyRevocation. */
export type Revocation = JsonObject & { action: 'Disable' | 'Delete'; atMost?: number }

export interface RevocationStatus {
  matched: number
  done: number
  failed: number
  remaining?: boolean
  byOwner?: Record<string, number>
  keys?: {
    name: string
    owner?: string
    displayName?: string
    lastActivity?: string
    expirationTimestamp?: string
  }[]
  failures?: { name: string; code?: number; message?: string }[]
}

export interface Revoked {
  /** The last answer, with the sum of what was done. */
  object: JsonObject
  status: RevocationStatus
}

/**
 * Revokes all keys that match, as they are at the first request. A request that arrives twice changes nothing more. Throws a
 * CliError that says how far it got.
 */
export async function revoke(
  io: Io,
  session: Session,
  spec: Revocation,
  { dryRun }: { dryRun: boolean },
): Promise<Revoked> {
  const body = { apiVersion: 'management.platform/v1', kind: 'AccessKeyRevocation', spec }
  let done = 0
  let matched: number | undefined
  for (;;) {
    const asked = session.post(`${API}/accesskeyrevocations`, body, { dryRun, repeatable: true })
    const object = await asked.catch((error: unknown) => {
      throw done > 0 && error instanceof CliError ? interrupted(error, done) : error
    })
    const status = object.status as unknown as RevocationStatus
    done += status.done
    matched ??= status.matched
    const all = { ...status, matched, done }
    if (dryRun || !status.remaining)
      return { object: { ...object, status: { ...all } as unknown as JsonObject }, status: all }
    if (status.done === 0) throw interrupted(new CliError('The server makes no progress.'), done)
    note(io, `${done} of ${matched} …`)
  }
}

function interrupted({ message, exitCode }: CliError, done: number): CliError {
  return new CliError(message, {
    exitCode,
    hint: `${done} keys are done. Repeat the command: it continues with the others.`,
  })
}
