/** Compares values of JSON. */

/** Reports whether two values have the same members, in whatever order. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || !one || !other) return one === other
  const [members, others] = [Object.entries(one), new Map(Object.entries(other))]
  return members.length === others.size && members.every(([name, value]) => isSame(value, others.get(name)))
}
