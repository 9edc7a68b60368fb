/** Reading what others wrote, member by member. */
import { isObject, own } from '../../meta/value/walk.ts'

/** A finding: `place` is a path such as `users[0].user.exec`; `why` follows it. Neither ever holds a value. */
export type Refuse = (place: string, why: string) => never

/** An object of which only the named members exist. */
export type Members<K extends string> = { readonly [N in K]?: unknown }

/** An own member of a value; undefined where there is none, or no object. */
export const member = (value: unknown, name: string): unknown => (isObject(value) ? own(value, name) : undefined)

/** Refuses what is no object and every member that is not in `allowed`. */
export function members<const K extends string>(
  value: unknown,
  place: string,
  allowed: readonly K[],
  refuse: Refuse,
): Members<K> {
  if (!isObject(value)) return refuse(place || 'the secret', 'is not an object')
  for (const name of Object.keys(value)) {
    if (!allowed.some((one) => one === name)) refuse(join(place, shownName(name)), 'is not accepted')
  }
  // Own members only, whatever the names: `constructor` is none of these.
  return Object.fromEntries(Object.entries(value)) as Members<K>
}

/** The items of a list that may be absent. */
export function items(value: unknown, place: string, refuse: Refuse): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : refuse(place, 'is not a list')
}

/** A text that may be absent; '' counts as absent. */
export function text(value: unknown, place: string, refuse: Refuse): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : refuse(place, 'is not a string')
}

/** The place of a member of what lies at `place`, which is empty at the root. */
export const join = (place: string, name: string): string => (place ? `${place}.${name}` : name)

/** In a damaged file a "name" may be a piece of a key, so only what looks like a name is repeated. */
const shownName = (name: string): string => (/^[a-zA-Z][a-zA-Z-]{0,39}$/.test(name) ? name : '(a member)')
