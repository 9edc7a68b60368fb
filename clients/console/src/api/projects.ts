/** Tells which project the objects of a namespace belong to: those of a project are in the namespace PREFIX + PROJECT. */
import type { Self } from '../../../core/src/objects.ts'

/** Returns the prefix of the namespaces of projects. */
export const prefixOf = ({ projectNamespacePrefix = 'p-' }: Self): string => projectNamespacePrefix

/** Returns the project of a namespace, or undefined if it is not that of a project. */
export const projectIn = (namespace: string, prefix: string): string | undefined =>
  namespace.startsWith(prefix) && namespace.length > prefix.length ? namespace.slice(prefix.length) : undefined
