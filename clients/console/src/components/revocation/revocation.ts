/** Revokes many keys (docs/leaks.md): first a dry run, then the same selection until nothing remains. */
import { type RevocationStatus, totalOf } from '../../../../core/src/objects.ts'
import { type Lockout, lockoutIn } from '../../../../core/src/words/lockout.ts'
import type { Api, Call } from '../../api/client.ts'
import { paths } from '../../api/paths.ts'
import { KnownError } from '../../api/status.ts'
import type { Selection } from './selection.ts'

export type Action = 'Disable' | 'Delete'

export interface Choice {
  keys: Selection
  action: Action
  reason: string
  /** Whether federated identity credentials that the key made are revoked too. */
  trusts: boolean
}

async function send(
  api: Api,
  { keys, action, reason, trusts }: Choice,
  { atMost, ...call }: Call & { atMost?: number },
) {
  const spec = {
    ...keys,
    action,
    ...(reason && { reason }),
    ...(trusts && { federatedIdentityCredentials: true }),
    ...(atMost !== undefined && { atMost }),
  }
  const body = { apiVersion: 'management.platform/v1', kind: 'AccessKeyRevocation', spec }
  const answer = await api.send<{ status?: RevocationStatus }>(paths.revocations, { ...call, method: 'POST', body })
  return answer.status ?? {}
}

export interface Trial {
  selected: RevocationStatus
  lockout?: Lockout | undefined
}

/** Returns what the revocation would do. */
export async function tryRevocation(api: Api, choice: Choice): Promise<Trial> {
  let lockout: Lockout | undefined
  const onWarnings = (texts: readonly string[]) => {
    lockout = lockoutIn(texts)
  }
  return { selected: await send(api, choice, { dryRun: true, onWarnings }), lockout }
}

export interface Outcome {
  done: number
  failed: number
  failures: NonNullable<RevocationStatus['failures']>
}

/** A request that changes nothing although keys remain is repeated so often. */
const IDLE_LIMIT = 3

/**
 * Revokes at most as many as the dry run has counted, and repeats the request while keys remain. After an error, a call with
 * the outcome so far goes on: what is done no longer matches.
 */
export async function revoke(
  api: Api,
  choice: Choice,
  atMost: number,
  before: Outcome | undefined,
  onProgress: (outcome: Outcome) => void,
): Promise<Outcome> {
  let outcome: Outcome = before ?? { done: 0, failed: 0, failures: [] }
  for (let idle = 0; idle < IDLE_LIMIT; ) {
    const answer = await send(api, choice, { atMost })
    const { done, failed } = totalOf(answer)
    const { remaining = false, failures = [] } = answer
    outcome = { done: outcome.done + done, failed, failures }
    onProgress(outcome)
    if (!remaining) return outcome
    idle = done > 0 ? 0 : idle + 1
  }
  throw new KnownError({
    title: 'The server could not revoke the remaining keys in time.',
    details: [],
    next: 'Continue, or try again later.',
  })
}
