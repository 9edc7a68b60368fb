/** Integers of texts as Go reads them. Source: strconv.ParseUint and ParseInt, base 10 and 64 bits. */

const MAX_UINT64 = 2n ** 64n - 1n
const MAX_DIGITS = String(MAX_UINT64).length

/** Why a text is none. */
export type IntegerProblem = 'invalid syntax' | 'value out of range'

/** An unsigned one. What is too large is told before what follows it is read. */
export function uint64(text: string): bigint | IntegerProblem {
  const end = text.search(/\D/)
  const digits = (end < 0 ? text : text.slice(0, end)).replace(/^0+/, '')
  // BigInt needs quadratic time: it never meets long input.
  if (digits.length > MAX_DIGITS || BigInt(digits) > MAX_UINT64) return 'value out of range'
  return text === '' || end >= 0 ? 'invalid syntax' : BigInt(digits)
}

/** The same with a sign. */
export function int64(text: string): bigint | IntegerProblem {
  const isSigned = text.startsWith('-') || text.startsWith('+')
  const size = uint64(isSigned ? text.slice(1) : text)
  if (typeof size === 'string') return size
  const value = text.startsWith('-') ? -size : size
  return BigInt.asIntN(64, value) === value ? value : 'value out of range'
}
