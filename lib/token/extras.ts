/**
 * What a cluster knows of one of our users besides name and groups, and hands back with each question to the review
 * endpoint: the `extra` of its UserInfo. Set from the private claim of a token by the cluster's configuration
 * (infra/clusterconfig.ts), and by our TokenReview for an access key.
 */

import { validateChain } from '../authorization/scopes/chain.ts'
import { parseChain } from '../authorization/scopes/parsechain.ts'
import { formatPlace, type Place, parsePlace } from '../authorization/scopes/place.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import type { UserInfo } from '../authorization/users/user.ts'
import { parseJson, stringify } from '../meta/encoding/json.ts'

/** Lower case, below a domain of ours: Kubernetes' rule for the keys of extras. */
export const EXTRA = {
  /** Name of the access key. */
  key: 'management.platform/access-key',
  /** Its uid; where this is, the user is ours and the review endpoint must be asked. */
  keyUid: 'management.platform/access-key-uid',
  /** JSON text of the scope chain, `[]` when unrestricted: see PrivateClaim. */
  scopes: 'management.platform/scopes',
  /** Who asks: the audience without the issuer, `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`. */
  target: 'management.platform/target',
} as const

/** The extras of a user whom an access key authenticates; without a place no request of theirs is judged well. */
export const extrasOf = (
  { key, chain }: Pick<UserInfo, 'key' | 'chain'>,
  place: Place | undefined,
): Record<string, string[]> => ({
  [EXTRA.key]: [key.name],
  [EXTRA.keyUid]: [key.uid],
  [EXTRA.scopes]: [stringify(chain)],
  ...(place && { [EXTRA.target]: [formatPlace(place)] }),
})

/** What the extras of a user of ours say. */
export interface Outsider {
  key: { name: string; uid: string }
  chain: ScopeChain
  place: Place
}

/**
 * Reads extras back. Undefined where none of them is ours; a problem, fit to be told, where any is missing, given twice
 * or not as `extrasOf` makes it. Their names arrive in lower case; others that differ only in case count as the same.
 */
export function readExtras(
  extra: Readonly<Record<string, readonly string[]>>,
): Outsider | { problem: string } | undefined {
  const values = (name: string) =>
    Object.entries(extra).flatMap(([one, given]) => (one.toLowerCase() === name ? given : []))
  if (!Object.keys(extra).some((one) => OURS.includes(one.toLowerCase()))) return undefined
  const name = only(values(EXTRA.key))
  const uid = only(values(EXTRA.keyUid))
  if (name === undefined || uid === undefined) return { problem: 'the user does not say which access key it has' }
  const chain = chainOf(only(values(EXTRA.scopes)))
  if (chain === undefined) return { problem: 'the user does not say which scopes it has' }
  const place = parsePlace(only(values(EXTRA.target)) ?? '')
  if (place === undefined) return { problem: 'the user does not say which cluster it is at' }
  return { key: { name, uid }, chain, place }
}

const OURS: readonly string[] = Object.values(EXTRA)

const only = (values: readonly string[]): string | undefined => (values.length === 1 ? values[0] : undefined)

function chainOf(text: string | undefined): ScopeChain | undefined {
  if (text === undefined) return undefined
  try {
    const { value, duplicates } = parseJson(text)
    const chain = parseChain(value)
    return duplicates.length === 0 && validateChain(chain).length === 0 ? chain : undefined
  } catch {
    // Whatever it is, it is no chain that we wrote.
    return undefined
  }
}
