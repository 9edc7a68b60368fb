/** Tells which project the objects of a namespace belong to: those of a project are in the namespace PREFIX + PROJECT. */

/** Returns the prefix of the namespaces of projects: what the status of a Self says, or that of servers that do not say it. */
export const prefixOf = ({ projectNamespacePrefix = 'p-' }: { projectNamespacePrefix?: string }): string =>
  projectNamespacePrefix

/** Returns the project of a namespace, or undefined if it is not that of a project. */
export const projectIn = (namespace: string, prefix: string): string | undefined =>
  namespace.startsWith(prefix) && namespace.length > prefix.length ? namespace.slice(prefix.length) : undefined
