/**
 * Validates JSON objects that this service wrote, when it reads them from where others could have written. Another release
 * may have written one with more members: the reader ignores members that it does not know, unless `crit` names them
 * (lib/engine/storage/README.md, versions of stored items).
 */
import type { Identity } from '../../access/users/user.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { isObject, own } from '../../engine/meta/value/walk.ts'

type Check<T = unknown> = (value: unknown) => value is T

/** A member that is read in another form. Reading throws an Error, without the value, for a wrong value. */
interface Part<T = unknown> {
  read(value: unknown): T
}

type Members = Readonly<Record<string, (Check | Part) & Partial<Restriction>>>
type Value<M> = M extends Part<infer T> ? T : M extends Check<infer T> ? T : never

/**
 * A record with the required members R and the optional members O. The tables of readers are the only place that states the
 * members; an interface that extends this type names the record in messages of the compiler.
 */
export type RecordOf<R extends Members, O extends Members = Record<never, never>> = {
  -readonly [K in keyof R]: Value<R[K]>
} & { -readonly [K in keyof O]?: Value<O[K]> }

const check = <T>(isValid: (value: unknown) => boolean) => isValid as Check<T>
export const part = <T>(read: (value: unknown) => T): Part<T> => ({ read })
export const isText = check<string>((value) => typeof value === 'string')
export const isNonEmptyText = check<string>((value) => typeof value === 'string' && value !== '')
export const isFlag = check<boolean>((value) => typeof value === 'boolean')
export const isTrue = check<true>((value) => value === true)
/** A count or a time: a whole number of at least 0. */
export const isCount = check<number>((value) => Number.isSafeInteger(value) && Number(value) >= 0)
export const isTextList = check<string[]>((value) => Array.isArray(value) && value.every(isText))
/** A list of at least one text, and of no empty one. */
export const isNonEmptyTextList = check<readonly string[]>(
  (value) => Array.isArray(value) && value.length > 0 && value.every(isNonEmptyText),
)
export const isIdentity = check<Identity>(
  (value) => typeof value === 'string' && /^(user|team|subject):./su.test(value),
)

/** The releases whose functions may run side by side, the current one last. */
export const RELEASES = ['0.1.0', '0.2.0'] as const

type Release = (typeof RELEASES)[number]

/** A member that restricts access or ends something, and the release that reads it first: every earlier one ignores it. */
export interface Restriction<R extends Release = Release> {
  readonly readSince: R
  /** Why the release that reads it first writes it all the same. */
  readonly despite?: string
}

/**
 * Marks a member that restricts access or ends something. The release that reads it first must not write it, because the release before it
 * still runs and would give access: writing throws an Error. `despite` says what becomes of it there, and lets it be written.
 */
export const restricts = <R extends Release, M extends Check | Part>(
  readSince: R,
  member: M,
  despite?: string,
): M & Restriction<R> => {
  const marked = typeof member === 'function' ? (value: unknown) => member(value) : { ...member }
  return Object.assign(marked, { readSince, ...(despite !== undefined && { despite }) }) as M & Restriction<R>
}

/** Why members that end tokens are written although release 0.1.0 ignores them. */
export const REVIVES_TOKENS = 'tokens that were ended may work again in release 0.1.0, until they expire'

/** Returns a function that returns the record, or throws an Error if this release must not write one of its members yet. */
export function writable(what: string, members: Members): <T extends object>(record: T) => T {
  const early = Object.entries(members).flatMap(([name, { readSince, despite }]) =>
    readSince === RELEASES.at(-1) && despite === undefined ? [name] : [],
  )
  return (record) => {
    const found = early.find((name) => own(record as Record<string, unknown>, name) !== undefined)
    if (found !== undefined) throw new Error(`${what} must not have ${found} before every release reads it`)
    return record
  }
}

/** The members of a hash, and of the life of a key, which several records have. */
export const HASH = { version: isNonEmptyText, hash: isNonEmptyText }
export const LIFE = {
  created: isCount,
  /** The ttl counts from the last activity or, before the first use, from creation. */
  ttlAfterLastActivity: isFlag,
  disabled: restricts('0.1.0', isFlag),
  /** The key has a deletionTimestamp, even if finalizers delay its removal. */
  deleted: restricts('0.1.0', isFlag),
}
export const LIFE_OPTIONAL = {
  /** Absent before the first use. */
  lastActivity: isCount,
  /** 0 or absent means that the key has no expiry of its own. */
  ttl: restricts('0.1.0', isCount),
  /** When the deployment has ended the key, because nobody used it. */
  endedUnused: restricts('0.2.0', isCount, 'the key is disabled with it, which release 0.1.0 obeys'),
}

/**
 * The member that names the members that a reader must know to understand the record. It is the idea of the header of that
 * name in RFC 7515, section 4.1.11.
 */
const CRIT = 'crit'

/**
 * Returns the `required` and `optional` members of the value. Throws an Error, with `what` and the member but never the
 * value, unless it is an object with every `required` member and only valid values. Also throws for a `crit` that is not
 * a list of names, or that names any other member.
 */
export function strictRecord<R extends Members, O extends Members = Record<never, never>>(
  what: string,
  value: unknown,
  required: R,
  optional?: O,
): RecordOf<R, O> {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  for (const member in required) if (!Object.hasOwn(value, member)) throw new Error(`${what} lacks ${member}`)
  const find = (member: string) => own<Members[string]>(required, member) ?? (optional && own(optional, member))
  if (Object.hasOwn(value, CRIT)) demandKnown(what, value[CRIT], (member) => find(member) !== undefined)
  const known: Record<string, unknown> = {}
  for (const member in value) {
    const found = find(member)
    if (found === undefined) continue
    if (typeof found !== 'function') known[member] = found.read(value[member])
    else if (found(value[member])) known[member] = value[member]
    else throw new Error(`${what} has a wrong ${member}`)
  }
  return known as RecordOf<R, O>
}

function demandKnown(what: string, critical: unknown, isKnown: (member: string) => boolean): void {
  const isList = Array.isArray(critical) && critical.length > 0 && critical.every(isNonEmptyText)
  if (!isList) throw new Error(`${what} has a wrong ${CRIT}`)
  if (!critical.every(isKnown)) throw new Error(`${what} has a critical member that this release does not know`)
}

/** A record that is written again. */
export interface Kept {
  /** The members that this release does not know. Every write of the record keeps them. */
  unknown?: JsonObject
}

/** Returns the reader and the writer of records that are written again, also what this release does not know. */
export function keptRecord<R extends Members, O extends Members = Record<never, never>>(
  what: string,
  required: R,
  optional?: O,
) {
  const members = { ...required, ...optional }
  const names = Object.keys(members)
  const checked = writable(what, members)
  return {
    read(value: JsonObject): RecordOf<R, O> & Kept {
      const known = strictRecord(what, value, required, optional)
      const others = Object.entries(value).filter(([name]) => !names.includes(name))
      return others.length === 0 ? known : { ...known, unknown: Object.fromEntries(others) }
    },
    write(record: object & Kept): JsonObject {
      const known = Object.entries(checked(record)).filter(
        ([name, value]) => value !== undefined && names.includes(name),
      )
      return { ...record.unknown, ...Object.fromEntries(known) }
    },
  }
}
