/** Sorts virtual clusters by their projects. */
import type { Metadata } from '../../api/objects.ts'

/** Returns the names of instances by project: the objects of a project are in the namespace PREFIX + PROJECT. */
export function byProject(items: readonly { metadata: Metadata }[], prefix: string): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { metadata } of items) {
    const { namespace = '', name } = metadata
    if (!namespace.startsWith(prefix)) continue
    const project = namespace.slice(prefix.length)
    found.set(project, [...(found.get(project) ?? []), name])
  }
  return found
}
