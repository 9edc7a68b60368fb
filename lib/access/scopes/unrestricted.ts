/** Recognizes scopes that restrict nothing, also those of servers of other releases. */
import { requestTargets } from '../attributes/attributes.ts'

/** A member of a scope as any server may send it. */
export type Entry = Readonly<Record<string, unknown>>

/**
 * Reports whether the scope restricts nothing: it is absent, or it allows every request target without a further limit. "No scope
 * limits the key" has this meaning wherever keys are selected or shown. It gives no privilege: a key with such a scope does
 * not count as a key without one.
 */
export const isUnrestricted = (scope: unknown): boolean =>
  !isEntry(scope) ||
  requestTargets.every(
    (target) =>
      entries(scope.rules).some((rule) => isUnlimited(rule, target)) ||
      // Beside a role, such as view, the clusters may only say where it holds.
      (target === 'Cluster' &&
        !entries(scope.roles)[0] &&
        entries(scope.clusters).some(({ cluster }) => cluster === '*')),
  )

/** Reports whether no member of the rule limits requests: each is empty, or names all verbs, or names this target. */
export const isUnlimited = (rule: Entry, target?: string): boolean =>
  Object.entries(rule).every(
    ([member, value]) =>
      value === undefined ||
      value === '' ||
      (Array.isArray(value) &&
        (value.length === 0 ||
          (member === 'verbs' && value.includes('*')) ||
          (member === 'requestTargets' && value.includes(target)))),
  )

export const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the entries of a list. One that is not an object has no members. */
export const entries = (value: unknown): Entry[] =>
  Array.isArray(value) ? value.map((one) => (isEntry(one) ? one : { unknown: one })) : []
