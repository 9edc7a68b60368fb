/**
 * resourceVersions as clients send them: decimal text of a uint64, whatever zeros it begins with.
 * Source: k8s.io/apiserver/pkg/storage (APIObjectVersioner), strconv.ParseUint.
 */
import { badRequest } from './errors.ts'
import { quoted } from './gotext.ts'

const MAX_UINT64 = 2n ** 64n - 1n
const MAX_DIGITS = String(MAX_UINT64).length

/** The number, 0 of an empty text; or why there is none. */
function decoded(text: string): bigint | 'invalid syntax' | 'value out of range' {
  if (/\D/.test(text)) return 'invalid syntax'
  const digits = text.replace(/^0+/, '')
  // BigInt needs quadratic time: it never meets long input.
  const version = digits.length > MAX_DIGITS ? undefined : BigInt(digits)
  return version === undefined || version > MAX_UINT64 ? 'value out of range' : version
}

/** 0 of an empty text. Throws what `failure` makes of Go's words: 400 (kube-apiserver answers 500 with the same). */
export function parseResourceVersion(text: string, failure: (why: string) => Error = badRequest): bigint {
  const version = decoded(text)
  if (typeof version === 'string') throw failure(`strconv.ParseUint: parsing ${quoted(text)}: ${version}`)
  return version
}

/** The same, and 0 of a text that is none. */
export function resourceVersionOrNone(text: string): bigint {
  const version = decoded(text)
  return typeof version === 'string' ? 0n : version
}
