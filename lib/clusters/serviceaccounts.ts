/** Judges changes of clusters whose service accounts issue the tokens, for all kinds of them. */

import type { UserInfo } from '../access/users/user.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Companion, Stored } from '../engine/storage/interface.ts'
import { announceEnding } from '../keys/credential/boundsecrets.ts'
import type { Network } from './cluster/network.ts'
import type { AccountTarget } from './serviceaccounts/target.ts'
import { SERVICE_ACCOUNTS } from './serviceaccounts/tokens.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Returns why the user may not decide where this service sends which credentials (403), or undefined. `members` are the members of the
 * spec that determine it.
 */
export function forbiddenReach(
  members: readonly string[],
  next: Fields,
  old: Fields,
  user: UserInfo,
): string | undefined {
  if (user.chain.length === 0) return undefined
  const written = (spec: Fields): Fields => ({ ...spec, tokens: spec.tokens || 'Issuer' })
  const changed = members.find((member) => !deepEqual(written(old)[member], written(next)[member]))
  return changed && `only system:masters without a scope may set or change spec.${changed}`
}

type Version = Pick<Stored, 'object'> | undefined

/** Says that tokens of service accounts end, if the cluster goes or is reached otherwise. */
export function endingOf(
  targetIn: (object: KubeObject) => AccountTarget | undefined,
  after: Version,
  before: Version,
  now: Date,
): Companion[] {
  const old = before && targetIn(before.object)
  if (!old) return []
  const next = after && after.object.metadata.deletionTimestamp === undefined ? targetIn(after.object) : undefined
  return deepEqual(old, next) ? [] : [announceEnding(old.key, now)]
}

/** Says that this service itself is no client that the fields of the network are for. */
export const directWarnings = ({ tokens, proxyURL, tlsServerName }: Network & { tokens?: string }): string[] =>
  tokens === SERVICE_ACCOUNTS && (proxyURL || tlsServerName)
    ? [
        'spec.proxyURL and spec.tlsServerName are for clients: this service connects directly to the address in its credentials, to make tokens and to end them',
      ]
    : []

export const ENDING_WARNING =
  'tokens of its service accounts end within seconds if the cluster can be reached, and otherwise when they expire'
