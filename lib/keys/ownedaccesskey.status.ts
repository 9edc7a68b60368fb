/** Computes the status of an access key on each read. The computed fields are never stored. */

import { containsChain } from '../access/scopes/chain.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { isMaster, keyIdentity } from '../access/users/identity.ts'
import { effectiveChain } from '../access/users/privilege.ts'
import { holdsRight } from '../access/users/reviewright.ts'
import type { UserInfo } from '../access/users/user.ts'
import { parseTime, rfc3339, rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import type { JsonObject, JsonValue } from '../engine/meta/types.ts'
import type { PresentedItems, Reader } from '../engine/registry/kind.ts'
import type { Stored } from '../engine/storage/interface.ts'
import type { ItemKey } from '../engine/storage/keys.ts'
import { KINDS } from '../kinds.ts'
import { credentialItemKey } from './credential/credential.ts'
import { decodeKeyInternal, type KeyInternal } from './credential/keyinternal.ts'
import { type KeyStatus, keyStatus, lifeOfStored } from './credential/keystatus.ts'
import { readSources } from './credential/lastsources.ts'
import type { KeyHash } from './credential/pepper.ts'
import { placesOf } from './credential/targetkeys.ts'
import { ownerOf, specOf, toKey } from './ownedaccesskey.values.ts'
import { presentScopeChanges } from './scope.changes.ts'
import type { Services } from './services.ts'
import { isUnrotated, valuesOf } from './values/keyvalues.ts'
import { settle } from './values/settle.ts'

/** Returns whether a key gives access, and until when. */
export const lifeAt = ({ limits }: Services['keys'], stored: Stored, now: Date): KeyStatus =>
  keyStatus(lifeOfStored(stored), unixSeconds(now), limits)

/** The states that nothing of a key changes. */
const FINAL: readonly string[] = ['Terminating', 'Unused']

/** Returns the phase of a key. A leak takes precedence over disabling, which it causes, until a new value is used. */
export const phaseOf = ({ state }: KeyStatus, { ended }: KeyInternal): string =>
  ended && !FINAL.includes(state) ? 'Leaked' : state

/** Returns the time in milliseconds. A text that the schema accepts but that is not a valid time sorts first. */
export const momentOf = (text: string): number => parseTime(text)?.getTime() ?? Number.NEGATIVE_INFINITY

const isOpen = ({ pending, retiring }: KeyInternal): boolean => pending !== undefined || retiring !== undefined

/** Returns the credentials of the values of a key while a rotation is open, which tell which value was used, and when. */
export function itemsToPresent(internal: JsonObject): ItemKey[] {
  const decoded = decodeKeyInternal(internal)
  return isOpen(decoded) ? valuesOf(decoded).map(({ credential }) => credentialItemKey(credential)) : []
}

const timeOf = (unix: unknown): string | undefined => (typeof unix === 'number' ? rfc3339OfUnix(unix) : undefined)

/** Returns the times that are known. */
const known = (times: Record<string, string | undefined>): JsonObject =>
  Object.fromEntries(Object.entries(times).filter(([, at]) => at !== undefined)) as JsonObject

/**
 * Returns the phase, the report of a leak, the values, and when the key was rotated; only the phase of a key that never was, and
 * never leaked. While a rotation is open, `items` are the credentials of the values: the row does not know yet whether the
 * pending value was used.
 */
function presentValues({ internal, activity }: Stored, life: KeyStatus, now: Date, items?: PresentedItems): JsonObject {
  const decoded = decodeKeyInternal(internal)
  if (isUnrotated(decoded)) return { phase: life.state }
  const itemOf = (credential: KeyHash) => items?.(credentialItemKey(credential)) ?? {}
  const { firstUsed } = decoded.pending ? itemOf(decoded.pending.credential) : {}
  const facts = typeof firstUsed === 'number' ? { firstUsed } : {}
  const settled = settle(decoded, facts, unixSeconds(now)).internal
  const lastActivity = activity === undefined ? undefined : rfc3339(new Date(activity))
  const values = valuesOf(settled).map(({ state, credential, facts, until }) => ({
    ...known({ hint: facts?.hint ?? hintIn(itemOf(credential)) }),
    state,
    ...known({
      made: timeOf(facts?.made),
      lastActivity: isOpen(decoded) ? timeOf(itemOf(credential).lastActivity) : lastActivity,
      until: timeOf(until),
    }),
  }))
  const { value, leak } = settled
  const current: JsonObject = values.find(({ state }) => state === 'Current') ?? {}
  return {
    phase: phaseOf(life, settled),
    ...(current.hint !== undefined && { hint: current.hint }),
    ...(leak && { leak: { reported: rfc3339OfUnix(leak.at), ...(leak.url && { url: leak.url }) } }),
    ...known({ lastRotation: value && value.number > 1 ? timeOf(value.made) : undefined }),
    values,
  }
}

/**
 * Returns how the values end that work or may soon, also that of a key that was never rotated, whose status does not show it: whoever has
 * seen the end of a value finds its key. Which of two is the current one, the row learns later than a read of the key.
 */
export function endsOfValues({ internal }: Stored): string[] {
  const { value, hint: first, pending, retiring } = decodeKeyInternal(internal)
  return [value ? value.hint : first, pending?.hint, retiring?.hint].filter((hint) => hint !== undefined)
}

/** Returns the hint of a first value, which only its credential stores. */
const hintIn = ({ hint }: JsonObject): string | undefined => (typeof hint === 'string' ? hint : undefined)

/** Returns where the key was last used from, unless the deployment does not record it. Only who may read the key sees it. */
function presentSources({ noted }: Stored, { recordSources }: Services['keys']): JsonObject {
  const sources = recordSources ? readSources(noted?.sources) : []
  if (sources.length === 0) return {}
  const shown = sources.map(({ ip, userAgent, at }) => ({
    ip,
    ...(userAgent !== '' && { userAgent }),
    lastSeen: rfc3339OfUnix(at),
  }))
  return { lastSources: shown }
}

/**
 * Returns when the key was last used, as its status says. A written time in the future counts as none: it would keep the key out of what
 * is found as unused.
 */
export function lastUseOf({ object, activity }: Stored, now: Date): string | undefined {
  const { lastActivity } = object.status ?? {}
  const isPast = typeof lastActivity === 'string' && momentOf(lastActivity) <= now.getTime()
  const recorded = activity === undefined ? undefined : rfc3339(new Date(activity))
  return [isPast ? lastActivity : undefined, recorded]
    .filter((one) => typeof one === 'string')
    .sort((a, b) => momentOf(b) - momentOf(a))[0]
}

/** Returns the places of the tokens of a key without a value. `target` is for clients that know one. */
function presentTargets(internal: KeyInternal): JsonObject {
  const [target = '', ...others] = placesOf(internal)
  if (target === '') return {}
  return { ...(others.length === 0 && { target }), targets: [target, ...others] }
}

/** Returns the computed status: owner, phase, expiration time, sources, values, a leak, and the key that made it. */
export function statusOf(
  { keys, scopes }: Pick<Services, 'keys' | 'scopes'>,
  stored: Stored,
  { user, now }: Reader,
  items?: PresentedItems,
): Record<string, JsonValue | undefined> {
  const latest = lastUseOf(stored, now)
  const life = lifeAt(keys, stored, now)
  const internal = decodeKeyInternal(stored.internal)
  return {
    lastActivity: latest,
    owner: ownerOf(stored),
    ...(life.expires !== undefined && { expirationTimestamp: rfc3339OfUnix(life.expires) }),
    ...(internal.reviewScope && holdsRight(internal, effectiveChain(toKey(stored))) && { mayReview: true }),
    ...presentTargets(internal),
    ...presentSources(stored, keys),
    ...presentMaker(stored, user, scopes),
    ...presentValues(stored, life, now, items),
    ...presentScopeChanges(specOf(stored.object), internal, now),
  }
}

/**
 * Returns which key made this one, for a reader of the key: administrators, and its owner if the maker had the same identity.
 * Otherwise the key of another user would be named. A reader with a scope sees it on keys that carry the scope, and the name if the
 * scope allows a read of that key.
 */
export function seenMaker(stored: Stored, user: UserInfo, scopes: ScopeOptions): SeenKey | undefined {
  const { makers, maker: name, creator } = decodeKeyInternal(stored.internal)
  const uid = makers?.at(-1)
  if (uid === undefined || name === undefined) return undefined
  const key = toKey(stored)
  if (!containsChain(effectiveChain(key), user.chain)) return undefined
  return seenKey({ name, uid, isOwners: creator === keyIdentity(key) }, user, scopes)
}

interface SeenKey {
  /** Absent if the reader may not read that key. */
  name?: string
  uid: string
}

/** Returns what a reader sees of another key: administrators, and with `isOwners` everybody, see it; scopes limit both. */
export function seenKey(
  { name, uid, isOwners }: { name: string; uid: string; isOwners: boolean },
  user: UserInfo,
  scopes: ScopeOptions,
): SeenKey | undefined {
  const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb: 'get', name }, scopes)
  const { own, self } = decision.allowed ? decision : {}
  if (!isOwners && (!isMaster(user) || own)) return undefined
  return { ...(decision.allowed && !self && { name }), uid }
}

/** Returns `madeWith`. What the key of the request itself has made says nothing, as for objects of any other kind. */
export function presentMaker(stored: Stored, user: UserInfo, scopes: ScopeOptions): JsonObject {
  const maker = seenMaker(stored, user, scopes)
  return maker === undefined || maker.uid === user.key.uid ? {} : { madeWith: { ...maker } }
}
