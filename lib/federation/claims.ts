/** Compares the claims of an ID token with the entries that a provider or a trust requires. */
import type { JsonObject, JsonValue } from '../engine/meta/types.ts'
import { isObject, own } from '../engine/meta/value/walk.ts'
import { fitsPattern } from './pattern.ts'

/** Requires one claim to have one of the values or to fit one of the patterns. */
export interface ClaimEntry {
  /** The name of a member of the token's payload. Dots, slashes and colons belong to the name. */
  claim: string
  values?: readonly string[]
  patterns?: readonly string[]
}

/**
 * Returns the first entry that the claims do not fulfil, or undefined when all hold. A list fulfils an entry when one of
 * its elements does. null, objects and absent claims fulfil nothing, and neither does an entry without values and
 * patterns. Every element of a list is compared: `parseIdToken` limits how many a token has.
 */
export const unmetEntry = (entries: readonly ClaimEntry[], claims: JsonObject): ClaimEntry | undefined =>
  entries.find((entry) => !holds(entry, own(claims, entry.claim)))

function holds(entry: ClaimEntry, value: JsonValue | undefined): boolean {
  return Array.isArray(value) ? value.some((element) => accepts(entry, element)) : accepts(entry, value)
}

function accepts({ values = [], patterns = [] }: ClaimEntry, value: JsonValue | undefined): boolean {
  const text = claimText(value)
  if (text === undefined) return false
  return values.includes(text) || (typeof value === 'string' && patterns.some((pattern) => fitsPattern(pattern, text)))
}

/**
 * Reports whether the issuer keeps a claim elsewhere, as Entra does with the groups of people who are in more than 200.
 * Source: OpenID Connect Core 1.0 section 5.6.2.
 */
export function isLeftOut(claims: JsonObject, name: string): boolean {
  const elsewhere = own(claims, '_claim_names')
  return isObject(elsewhere) && Object.hasOwn(elsewhere, name) && !Object.hasOwn(claims, name)
}

/**
 * Returns the text with which a scalar claim is compared: of a string itself, of a boolean `true` or `false`, of an integer
 * its digits. Returns undefined for fractions, for integers beyond int64, which JSON decoders round, and for all else.
 */
export function claimText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined
  return typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : undefined
}

/** Reports whether a claim is true. Some issuers write booleans as texts. */
export const isTrue = (value: JsonValue | undefined): boolean => claimText(value) === 'true'
