/**
 * Writes and reads the `extra` of a user's UserInfo in a cluster, which the cluster returns with each request to the
 * review endpoint. The cluster's configuration sets it from a token's private claim (connect/clusterfiles.ts). For an
 * access key, the TokenReview sets it.
 */

import { validateChain } from '../../access/scopes/chain.ts'
import { parseChain } from '../../access/scopes/parsechain.ts'
import { formatPlace, type Place, parsePlace } from '../../access/scopes/place.ts'
import type { ScopeChain } from '../../access/scopes/scope.ts'
import { runOfUser } from '../../access/users/identity.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { parseJson, stringify } from '../../engine/meta/encoding/json.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { EXTRA } from './contract.ts'

/**
 * Returns the extras of a user authenticated by an access key at `now`. Without a place, every request of the user is
 * denied.
 */
export const extrasOf = (
  user: Pick<UserInfo, 'key' | 'chain' | 'federation'>,
  place: Place | undefined,
  now: Date,
): Record<string, string[]> => ({
  [EXTRA.key]: [user.key.name],
  [EXTRA.keyUid]: [user.key.uid],
  [EXTRA.run]: [runOfUser(user)],
  [EXTRA.scopes]: [stringify(user.chain)],
  ...(place && { [EXTRA.target]: [formatPlace(place)] }),
  [EXTRA.issuedAt]: [String(unixSeconds(now))],
})

/** The parsed extras of a user of this service. */
export interface Outsider {
  key: { name: string; uid: string }
  chain: ScopeChain
  place: Place
  /** Unix seconds; 0 if the cluster did not send it. */
  issuedAt: number
}

/**
 * Parses extras. Returns undefined when none belong to this service. Returns a problem that may be shown when any but the
 * time of issue is missing, or any is repeated or not in the form of `extrasOf`. Kubernetes lower-cases their names; names that differ only in
 * case are equal.
 */
export function readExtras(
  extra: Readonly<Record<string, readonly string[]>>,
): Outsider | { problem: string } | undefined {
  const values = (name: string) =>
    Object.entries(extra).flatMap(([one, given]) => (one.toLowerCase() === name ? given : []))
  if (!Object.keys(extra).some((one) => OURS.includes(one.toLowerCase()))) return undefined
  const name = only(values(EXTRA.key))
  const uid = only(values(EXTRA.keyUid))
  if (name === undefined || uid === undefined)
    return { problem: 'the extra of the user does not identify one access key' }
  const chain = chainOf(only(values(EXTRA.scopes)))
  if (chain === undefined) return { problem: 'the extra of the user does not contain valid scopes' }
  const place = parsePlace(only(values(EXTRA.target)) ?? '')
  if (place === undefined) return { problem: 'the extra of the user does not identify one cluster' }
  const issuedAt = timeOf(values(EXTRA.issuedAt))
  if (issuedAt === undefined) return { problem: 'the extra of the user does not contain one valid time of issue' }
  return { key: { name, uid }, chain, place, issuedAt }
}

const OURS: readonly string[] = Object.values(EXTRA)

function timeOf(values: readonly string[]): number | undefined {
  if (values.length === 0) return 0
  const text = only(values) ?? ''
  return /^[1-9][0-9]{0,11}$/.test(text) ? Number(text) : undefined
}

const only = (values: readonly string[]): string | undefined => (values.length === 1 ? values[0] : undefined)

function chainOf(text: string | undefined): ScopeChain | undefined {
  if (text === undefined) return undefined
  try {
    const { value, duplicates } = parseJson(text)
    const chain = parseChain(value)
    return duplicates.length === 0 && validateChain(chain).length === 0 ? chain : undefined
  } catch {
    // Any error means that this service did not write the chain.
    return undefined
  }
}
