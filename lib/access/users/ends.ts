/**
 * Says what ends access: of an access key, and of the trusts and identity providers that keys come through. What refuses, records or
 * announces an end asks here.
 *
 * A key that gives access again revives its values and the keys that it made. What was issued until its end stays dead.
 */
import type { JsonObject, KubeObject } from '../../engine/meta/types.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import { own } from '../../engine/meta/value/walk.ts'
import { isSameScope } from '../scopes/chain.ts'
import type { KeySpec } from './identity.ts'

/** The part of a life that somebody ends, or the deployment. An expiry ends by itself. */
interface Life {
  deleted: boolean
  disabled: boolean
  /** When the deployment has ended a key that nobody used, in unix seconds. Such a key is disabled as well, so that every release obeys. */
  endedUnused?: number | undefined
}

/** Returns what the object says of its life. What the deployment has ended is not in it. */
export const lifeIn = ({ metadata, spec }: KubeObject): Omit<Life, 'endedUnused'> => ({
  deleted: metadata.deletionTimestamp !== undefined,
  disabled: endsByField('disabled', spec?.disabled),
})

/** What access is ended by, in order of precedence, as it is called in phases. */
const CAUSES = {
  Terminating: ({ deleted }: Life) => deleted,
  Unused: ({ endedUnused }: Life) => endedUnused !== undefined,
  Disabled: ({ disabled, endedUnused }: Life) => disabled && endedUnused === undefined,
} satisfies Record<string, (life: Life) => boolean>

export type Cause = keyof typeof CAUSES

const causesOf = (life: Life): Cause[] => (Object.keys(CAUSES) as Cause[]).filter((cause) => CAUSES[cause](life))

/** Returns what keeps this from giving access, or undefined. */
export const closedBy = (life: Life): Cause | undefined => causesOf(life)[0]

/** Reports whether a change ends access, which nobody had ended before. */
export const endsAccess = (before: Life, after: Life): boolean =>
  closedBy(before) === undefined && closedBy(after) !== undefined

/** Returns by what a change ends access, in addition to what had ended it before. */
export const addedCauses = (before: Life, after: Life): Cause[] =>
  causesOf(after).filter((cause) => !causesOf(before).includes(cause))

/** Why a key that nobody used gives no access again. */
export const FINAL = 'nobody used the access key for too long, so it has ended for good: make another one'

/** Reports whether a change of the spec would give access again. */
export const reopens = (old: EndingFields, next: EndingFields): boolean => isClosed(old) && !isClosed(next)

/** The fields of a spec that end access, each with the values that do. */
const FIELDS = { disabled: (value: unknown) => value === true } as const

type EndingFields = { [Name in keyof typeof FIELDS]?: unknown }

/** Reports whether this value of a field ends access. */
export const endsByField = (name: string, value: unknown): boolean => own(FIELDS, name)?.(value) ?? false

const isClosed = (spec: EndingFields): boolean => Object.entries(spec).some(([name, value]) => endsByField(name, value))

/** Returns the spec without the fields that end access. */
export const besidesEnds = <Spec extends EndingFields>(spec: Spec): JsonObject =>
  Object.fromEntries(Object.entries(spec).filter(([name]) => !Object.hasOwn(FIELDS, name))) as JsonObject

/** Reports whether a change of the spec does nothing but end access. */
export const onlyEnds = <Spec extends EndingFields>(old: Spec, next: Spec): boolean =>
  isClosed(next) && deepEqual(besidesEnds(old), besidesEnds(next))

/**
 * Reports whether the key could live longer with `next` than with `old`, for some pattern of use. A larger ttl (0 or
 * absent means unlimited), counting from the last activity instead of creation, and re-enabling a disabled key do that.
 * A change that moves the expiry both ways also counts, such as a larger ttl that no longer counts from the last activity.
 */
export function lengthens(old: KeySpec, next: KeySpec): boolean {
  const before = lifetimeOf(old)
  const after = lifetimeOf(next)
  const fromActivity = after !== Number.POSITIVE_INFINITY && next.ttlAfterLastActivity === true
  const slides = fromActivity && old.ttlAfterLastActivity !== true && before !== Number.POSITIVE_INFINITY
  return after > before || slides || reopens(old, next)
}

/** Returns the ttl in seconds: Infinity if it is 0 or absent. */
export const lifetimeOf = ({ ttl }: KeySpec): number => (ttl ? Number(ttl) : Number.POSITIVE_INFINITY)

/** A change of a key, as far as it matters for what the key has issued. Times are Unix seconds. */
export interface IssuerChange {
  old: KeySpec
  next: KeySpec
  /** When the scope was last changed before. */
  scopeChanged?: number | undefined
  /** Whether the key gives access after the change, and had expired before. */
  revives: boolean
  /** Whether the change drops inherited scopes. */
  dropsScopes: boolean
  /** Whether the change replaces the value of the key at once. */
  replaces: boolean
  now: number
}

/**
 * Returns the last second of which what the key has issued is dead from now on, or undefined if nothing ends: tokens, and Secrets to
 * which tokens are bound. All ends with the access of the key, with its value, and when the key becomes another user's or leaves a
 * group. A scope limits at once what was issued before it. So one change of the scope ends nothing, but the next one could give back
 * what the first took away: it ends what was issued until the first.
 */
export function endOfIssued({
  old,
  next,
  scopeChanged,
  revives,
  dropsScopes,
  replaces,
  now,
}: IssuerChange): number | undefined {
  const closes = isClosed(next) && !isClosed(old)
  if (closes || revives || dropsScopes || replaces || loses(old, next)) return now
  return isSameScope(old.scope, next.scope) ? undefined : scopeChanged
}

/** Reports whether the key becomes another user's, or leaves a group. Tokens say both, and clusters judge by them. */
const loses = (old: KeySpec, next: KeySpec): boolean =>
  (['user', 'team', 'subject'] as const).some((member) => (old[member] ?? '') !== (next[member] ?? '')) ||
  (old.groups ?? []).some((group) => !next.groups?.includes(group))

/** A function that issues may have another clock than the one that ended. */
const LONGEST_WAIT_MS = 1000

/**
 * Returns the time at which something may be issued: `now` or, in the second of the last end (unix seconds), the next second, which it
 * waits for. What was issued in the second of an end is dead, because it could be from before.
 */
export async function timeOfIssue(
  lastEnd: number | undefined,
  now: Date,
  sleep: (ms: number) => Promise<void>,
): Promise<Date> {
  const wait = lastEnd === undefined ? 0 : (lastEnd + 1) * 1000 - now.getTime()
  if (wait <= 0) return now
  await sleep(Math.min(wait, LONGEST_WAIT_MS))
  return new Date(now.getTime() + wait)
}
