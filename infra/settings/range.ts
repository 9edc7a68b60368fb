/** Writes ranges of integers as regular expressions. CloudFormation compares a parameter with one range, or with one pattern. */

/** Returns a pattern that matches the integers from `minimum` to `maximum`, neither of which is negative, without leading zeros. */
export function patternOf(minimum: number, maximum: number): string {
  const parts: string[] = []
  let from = minimum
  while (from <= maximum) {
    const to = lastLike(from, maximum)
    parts.push(digitsOf(String(from), String(to)))
    from = to + 1
  }
  return parts.join('|')
}

/** Returns the largest number up to `maximum` for which all numbers from `from` on are one digit from a range before any digits. */
function lastLike(from: number, maximum: number): number {
  for (let power = 10 ** (String(from).length - 1); power > 1; power /= 10) {
    if (from % power > 0) continue
    // The digit before the free ones may rise as far as it leaves the digits before it alone.
    const upTo = from - (Math.floor(from / power) % 10) * power + 9 * power
    const last = Math.min(upTo, from + Math.floor((maximum - from + 1) / power) * power - power) + power - 1
    if (last >= from && last <= maximum) return last
  }
  return Math.min(maximum, from - (from % 10) + 9)
}

/** Returns a pattern for numbers of the same length, which differ in one digit before digits that are free. */
function digitsOf(from: string, to: string): string {
  const at = [...from].findIndex((digit, index) => digit !== to[index])
  if (at < 0) return from
  const free = from.length - at - 1
  const rest = free === 0 ? '' : `[0-9]${free === 1 ? '' : `{${free}}`}`
  return `${from.slice(0, at)}[${from[at]}-${to[at]}]${rest}`
}
