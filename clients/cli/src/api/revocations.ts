/** Revokes access keys in bulk, and trusts if they are asked for: repeats the request until no key is left. */
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { type RevocationStatus, totalOf } from '../../../core/src/objects.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { patiently } from './call.ts'
import { API, type Session } from './session.ts'

/** What is revoked, and how: the spec of an AccessKeyRevocation. */
export type Revocation = JsonObject & { action: 'Disable' | 'Delete'; atMost?: number }

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
  let before: RevocationStatus | undefined
  for (;;) {
    const asked = () => session.post(`${API}/accesskeyrevocations`, body, { dryRun, repeatable: true })
    const object = await (dryRun ? asked() : patiently(io, asked)).catch((error: unknown) => {
      const { done } = before ? totalOf(before) : { done: 0 }
      throw done > 0 && error instanceof CliError ? interrupted(error, done) : error
    })
    const status = object.status as unknown as RevocationStatus
    const all = before ? added(before, status) : status
    if (dryRun || !status.remaining)
      return { object: { ...object, status: { ...all } as unknown as JsonObject }, status: all }
    const { matched, done } = totalOf(all)
    if (totalOf(status).done === 0) throw interrupted(new CliError('The server makes no progress.'), done)
    note(io, `${done} of ${matched} …`)
    before = all
  }
}

/** Returns a later status with what was selected at first, and all that was done. */
function added(before: RevocationStatus, { federatedIdentityCredentials: trusts, ...status }: RevocationStatus) {
  const first = before.federatedIdentityCredentials
  const sum = ({ done: one = 0 }, { done: other = 0 }) => one + other
  const unconfirmed = [before.unconfirmed, status.unconfirmed].filter((one) => one !== undefined)
  return {
    ...status,
    matched: before.matched ?? 0,
    done: sum(before, status),
    ...(unconfirmed.length > 0 && {
      unconfirmed: {
        keys: unconfirmed.reduce((all, { keys = 0 }) => all + keys, 0),
        clusters: [...new Set(unconfirmed.flatMap(({ clusters = [] }) => clusters))].sort(),
      },
    }),
    ...(trusts &&
      first && {
        federatedIdentityCredentials: { ...trusts, matched: first.matched ?? 0, done: sum(first, trusts) },
      }),
  }
}

function interrupted({ message, exitCode }: CliError, done: number): CliError {
  return new CliError(message, {
    exitCode,
    hint: `${done} keys are done. Repeat the command: it continues with the others.`,
  })
}
