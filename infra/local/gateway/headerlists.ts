/** Headers of one name are one list: equal names in another case are the same, written as the first. */
export type HeaderLists = Map<string, { name: string; values: string[] }>

/** Adds to the list of the name, by its name in lower case. */
export function addHeader(lists: HeaderLists, name: string, values: readonly string[]): void {
  const known = lists.get(name.toLowerCase())
  if (known) known.values.push(...values)
  else lists.set(name.toLowerCase(), { name, values: [...values] })
}
