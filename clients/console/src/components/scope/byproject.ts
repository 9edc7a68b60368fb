/** Sorts virtual clusters by their projects. */
import type { Metadata } from '../../../../core/src/objects.ts'
import { projectIn } from '../../../../core/src/projects.ts'

/** Names of virtual clusters, by project. */
export type NamesByProject = ReadonlyMap<string, readonly string[]>

/** Returns the names of the virtual clusters of each project. */
export function byProject(items: readonly { metadata: Metadata }[], prefix: string): NamesByProject {
  const found = new Map<string, string[]>()
  for (const { metadata } of items) {
    const { namespace = '', name } = metadata
    const project = projectIn(namespace, prefix)
    if (project !== undefined) found.set(project, [...(found.get(project) ?? []), name])
  }
  return found
}
