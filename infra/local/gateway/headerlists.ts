/** Collects the values of headers by name. Names are case-insensitive and keep their first spelling. */
export type HeaderLists = Map<string, { name: string; values: string[] }>

/** Adds a value to the list of the header; lists are keyed by the lower-case name. */
export function addHeader(lists: HeaderLists, name: string, values: readonly string[]): void {
  const known = lists.get(name.toLowerCase())
  if (known) known.values.push(...values)
  else lists.set(name.toLowerCase(), { name, values: [...values] })
}
