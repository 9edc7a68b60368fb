/**
 * Maps namespaces to projects. The objects of project P are in the namespace PREFIX + P; each deployment sets the
 * prefix.
 */

export interface ScopeOptions {
  /** For example `p-`. */
  projectNamespacePrefix: string
}

/** Returns the project of the namespace, or undefined when the namespace belongs to no project. */
export function projectOf(namespace: string, { projectNamespacePrefix: prefix }: ScopeOptions): string | undefined {
  return namespace.startsWith(prefix) && namespace.length > prefix.length ? namespace.slice(prefix.length) : undefined
}

/**
 * Reports whether a listed name selects `name`: it is the same name or the wildcard `*`. An absent or empty listed name
 * selects nothing.
 */
export const selects = (listed: string | undefined, name: string): boolean =>
  listed !== undefined && listed !== '' && name !== '' && (listed === '*' || listed === name)
