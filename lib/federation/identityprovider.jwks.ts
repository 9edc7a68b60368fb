/**
 * Judges pinned keys as fetched ones are read: what cannot verify a signature is skipped. Because they are stored as they were
 * sent, no private key may be anywhere in them. No message quotes more of a key than its kid, because the text could hold one.
 */

import { type FieldError, forbidden } from '../engine/meta/errors/fielderror.ts'
import type { JsonObject, JsonValue } from '../engine/meta/types.ts'
import { holdsCredential } from '../engine/meta/value/credentialtext.ts'
import { isObject } from '../engine/meta/value/walk.ts'
import { fitsAlgorithm, type SignatureAlgorithm } from './algorithms.ts'
import { isForSignatures, normalizeKeySet, parseKeySet, SECRET_MEMBERS, UnusableKeySet } from './jwks.ts'

export interface Judgement {
  /** The 422 errors. */
  errors: FieldError[]
  /** What is skipped. */
  warnings: string[]
}

const PATH = 'spec.jwks'

/** Judges a key set for signatures with these algorithms. At least one key must be usable. */
export function judgePinned(jwks: string, algorithms: readonly SignatureAlgorithm[]): Judgement {
  const refused = (detail: string): Judgement => ({ errors: [forbidden(PATH, detail)], warnings: [] })
  try {
    parseKeySet(jwks)
  } catch (error) {
    if (error instanceof UnusableKeySet) return refused(error.message)
    throw error
  }
  const set: { keys: JsonValue[] } = JSON.parse(jwks)
  if (holdsPrivateKey(set))
    return refused('contains a private or symmetric key: publish only public keys, and replace this one')
  const judged = set.keys.map((entry, index) => ({
    entry,
    index,
    keys: normalizeKeySet({ keys: [entry] }).filter((key) => algorithms.some((one) => fitsAlgorithm(key, one))),
  }))
  const usable = judged.flatMap(({ keys }) => keys)
  const names = judged
    .filter(({ entry, keys }) => keys.length === 0 && (!isObject(entry) || isForSignatures(entry)))
    .map(({ entry, index }) => nameOf(entry, index))
  const rule = `usable for signatures with ${algorithms.join(', ')}; RSA keys have 2048 to 8192 bits, and an exponent of at most 8 bytes`
  if (usable.length === 0)
    return refused(names[0] === undefined ? 'must have a key for signatures' : `${names[0]} must be ${rule}`)
  const ids = usable.map(({ kid }) => kid)
  if (new Set(ids).size < ids.length) return refused('every key must have its own kid')
  return {
    errors: [],
    warnings: [
      ...(names.length > 0 ? [`${PATH}: ${listed(names)} skipped: not ${rule}`] : []),
      ...(Object.keys(set).length > 1 ? [`${PATH}: members other than keys are ignored`] : []),
    ],
  }
}

/** Reports whether a private or symmetric key is anywhere in a value, as members of a key or as PEM. */
function holdsPrivateKey(value: JsonValue): boolean {
  if (typeof value === 'string') return value.includes('PRIVATE KEY-----')
  if (typeof value !== 'object' || value === null) return false
  const isPrivate = isObject(value) && SECRET_MEMBERS.some((name) => Object.hasOwn(value, name))
  return isPrivate || Object.values(value).some(holdsPrivateKey)
}

/** Returns `keys[1] (kid "a")`. A kid that no issuer would choose is left out. */
function nameOf(entry: JsonValue, index: number): string {
  const { kid }: JsonObject = isObject(entry) ? entry : {}
  const isShort = typeof kid === 'string' && /^[\w.:=+/-]{1,64}$/.test(kid) && !holdsCredential(kid)
  return `keys[${index}]${isShort ? ` (kid ${JSON.stringify(kid)})` : ''}`
}

/** The names that a warning shows. */
const SHOWN = 3

/** Returns the subject of a sentence: the first names, and how many there are besides. */
function listed(names: readonly string[]): string {
  const more = names.length - SHOWN
  const text = [...names.slice(0, SHOWN), ...(more > 0 ? [`${more} more`] : [])].join(', ')
  return `${text} ${names.length === 1 ? 'is' : 'are'}`
}
