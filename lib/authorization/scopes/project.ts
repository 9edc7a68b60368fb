/** Projects and their namespaces. The objects of project P live in the namespace PREFIX + P; the prefix is set at deploy. */

export interface ScopeOptions {
  /** For example `p-`. */
  projectNamespacePrefix: string
}

/** The project whose namespace this is; undefined for any other namespace and for none. */
export function projectOf(namespace: string, { projectNamespacePrefix: prefix }: ScopeOptions): string | undefined {
  return namespace.startsWith(prefix) && namespace.length > prefix.length ? namespace.slice(prefix.length) : undefined
}

/** Whether one listed name selects `name`: the same, or the wildcard `*`. An absent or empty listed name selects nothing. */
export const selects = (listed: string | undefined, name: string): boolean =>
  listed !== undefined && listed !== '' && name !== '' && (listed === '*' || listed === name)
