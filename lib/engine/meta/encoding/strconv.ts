/** Parses integers and flags as Go does. Source: strconv.ParseUint and ParseInt, base 10 and 64 bits. */
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_DIGITS = String(MAX_UINT64).length

/** The reason why a text is not a valid integer, in Go's words. */
type IntegerProblem = 'invalid syntax' | 'value out of range'

/** Parses an unsigned integer. Detects an overflow before later invalid characters, as Go does. */
export function parseUnsigned(text: string): bigint | IntegerProblem {
  const end = text.search(/\D/)
  const digits = (end < 0 ? text : text.slice(0, end)).replace(/^0+/, '')
  // BigInt takes quadratic time, so never pass it a long input.
  if (digits.length > MAX_DIGITS || BigInt(digits) > MAX_UINT64) return 'value out of range'
  return text === '' || end >= 0 ? 'invalid syntax' : BigInt(digits)
}

/** Reports whether an integer has 64 bits. */
export const fitsInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value

export function parseSigned(text: string): bigint | IntegerProblem {
  const isSigned = text.startsWith('-') || text.startsWith('+')
  const size = parseUnsigned(isSigned ? text.slice(1) : text)
  if (typeof size === 'string') return size
  const value = text.startsWith('-') ? -size : size
  return fitsInt64(value) ? value : 'value out of range'
}

/** Parses a flag of a query like Go's conversion of queries: every value except `false` and `0` is true, also the empty one. */
export const parseQueryFlag = (value: string): boolean => !['false', '0'].includes(value.toLowerCase())
