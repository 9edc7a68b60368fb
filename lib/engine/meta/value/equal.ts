/** Compares JSON values. */

/**
 * Reports whether two JSON values are equal. Ignores the order of members and undefined members; the `number` and the
 * `bigint` of an integer are equal.
 */
export function deepEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one === 'bigint' || typeof other === 'bigint') return sameInteger(one, other)
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false
    return one.every((item, index) => deepEqual(item, other[index]))
  }
  const left = members(one)
  const right = members(other)
  return (
    left.size === right.size && [...left].every(([name, value]) => right.has(name) && deepEqual(value, right.get(name)))
  )
}

const members = (object: object): Map<string, unknown> =>
  new Map(Object.entries(object).filter(([, value]) => value !== undefined))

const sameInteger = (one: unknown, other: unknown): boolean => {
  const left = asBigint(one)
  return left !== undefined && left === asBigint(other)
}

function asBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  return Number.isInteger(value) ? BigInt(value as number) : undefined
}
