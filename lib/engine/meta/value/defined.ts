/** Builds objects of which some members may be absent. */

/** The members of T. Those that may be undefined are optional. */
type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** Returns the object without the members that are undefined. */
export function defined<T extends object>(members: T): Defined<T> {
  const kept: Partial<T> = {}
  for (const name in members) if (members[name] !== undefined) kept[name] = members[name]
  return kept as unknown as Defined<T>
}

/** Returns the object without the members that are undefined or empty. */
export const filled = <T extends Readonly<Record<string, string | undefined>>>(
  members: T,
): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(members).filter(([, text]) => text)) as { [K in keyof T]?: string }
