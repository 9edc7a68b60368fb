/** Reads values of a federated identity credential, called trust in code, from stored objects and from requests. */

import { withScope } from '../access/scopes/chain.ts'
import { closedBy, lifeIn, onlyEnds } from '../access/users/ends.ts'
import { effectiveUser, type Key, type KeySpec, keyIdentity } from '../access/users/identity.ts'
import type { Reviewer } from '../access/users/lockout.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { deepEqual } from '../engine/meta/value/equal.ts'
import type { Stored, Table } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import type { TrustSpec } from './federatedidentitycredential.schema.ts'
import { DEFAULT_TTL, decodeTrustInternal } from './trust.ts'

/** Returns the spec, which the schema has validated. */
export const specOf = ({ spec }: KubeObject): TrustSpec => spec as unknown as TrustSpec

/** Returns the spec of the exchanged keys, as the authorization rules see it. Mapped groups count as groups. */
export function keySpecOf({
  user,
  team,
  subject,
  groups,
  claimMappings,
  scope,
  dropAddedScopes,
  ttl,
  disabled,
}: TrustSpec): KeySpec {
  const all = [...(groups ?? []), ...(claimMappings?.groups ?? []).map(({ group }) => group)]
  const named = defined({ user, team, subject, scope, dropAddedScopes, disabled })
  return { ...named, ...(all.length > 0 && { groups: all }), ttl: ttl ?? DEFAULT_TTL }
}

/** Returns the trust as the authorization rules see it: as a key. */
export function toKey({ object, internal }: Pick<Stored, 'object' | 'internal'>): Key {
  const { creator, carried, born } = decodeTrustInternal(internal)
  const spec = keySpecOf(specOf(object))
  return { uid: object.metadata.uid ?? '', spec, creator, carried, ...defined({ born }) }
}

/** How trusts are stored, for functions that need nothing that is noted beside them. */
export const table: Table = {
  resource: KINDS.FederatedIdentityCredential.plural,
  partitions: (stored) => [keyIdentity(toKey(stored))],
  activity: false,
  counted: () => true,
}

/** Returns the name of the owner: a user, `team:TEAM` or `subject:SUBJECT`. */
export const ownerOf = (stored: Pick<Stored, 'object' | 'internal'>): string => effectiveUser(toKey(stored)).name

/** Reports whether a change closes the keys of earlier exchanges. */
export const closesKeys = (old: TrustSpec, next: TrustSpec): boolean =>
  (['claims', 'scope', 'claimMappings'] as const).some((member) => !deepEqual(old[member], next[member])) ||
  (next.tokensOnly === true && old.tokensOnly !== true)

/** Returns the trust as far as it says who may review with its keys. */
export const reviewer = (trust: Pick<Stored, 'object' | 'internal'>): Reviewer => ({
  spec: toKey(trust).spec,
  chain: withScope([], specOf(trust.object).scope),
  ...defined({ reviewScope: decodeTrustInternal(trust.internal).reviewScope }),
})

/** Reports whether a change leaves out jobs that could exchange their ID tokens for access keys. */
export function narrowsClaims(old: TrustSpec, next: TrustSpec): boolean {
  if (next.tokensOnly === true && old.tokensOnly !== true) return true
  const left = new Map(next.claims.map((entry) => [entry.claim, [...(entry.values ?? []), ...(entry.patterns ?? [])]]))
  const isKept = ({ claim, values = [], patterns = [] }: TrustSpec['claims'][number]) =>
    [...values, ...patterns].every((one) => left.get(claim)?.includes(one) ?? true)
  return !old.claims.every(isKept) || next.claims.some(({ claim }) => !old.claims.some((one) => one.claim === claim))
}

/** Reports whether nobody has ended the trust. */
export const isOpenTrust = ({ object }: Pick<Stored, 'object'>): boolean => closedBy(lifeIn(object)) === undefined

/** Reports whether a change leaves who may exchange what as it was, or ends it: texts, and disabling. */
export const isHarmless = (old: TrustSpec, { displayName, description, ...next }: TrustSpec): boolean => {
  const { displayName: _, description: __, ...before } = old
  return deepEqual(before, next) || onlyEnds(before, next)
}

/** How many credentials a warning names. */
const MOST_NAMED = 10

/** Returns `2 federated identity credentials (a, b)`. */
export function listedNames(names: readonly string[]): string {
  const noun = names.length === 1 ? 'federated identity credential' : 'federated identity credentials'
  const more = names.length > MOST_NAMED ? [`and ${names.length - MOST_NAMED} more`] : []
  return `${names.length} ${noun} (${[...names.slice(0, MOST_NAMED), ...more].join(', ')})`
}
