/** Says which projects and virtual clusters of a scope are not among those that a person may see. They may exist, or be made later. */
import type { Scope } from '../objects.ts'
import { projectIn } from '../projects.ts'
import { nearest } from './nearest.ts'

/** Names of virtual clusters, by project. */
export type NamesByProject = ReadonlyMap<string, readonly string[]>

/** The names of the clusters that a person may see. */
export interface KnownClusters {
  virtualClusters: NamesByProject
  connected: readonly string[]
}

/** Returns the names of the virtual clusters of each project. */
export function byProject(items: readonly { name: string; namespace?: string }[], prefix: string): NamesByProject {
  const found = new Map<string, string[]>()
  for (const { namespace = '', name } of items) {
    const project = projectIn(namespace, prefix)
    if (project !== undefined) found.set(project, [...(found.get(project) ?? []), name])
  }
  return found
}

/** Returns the projects and virtual clusters that a scope names, as PROJECT and PROJECT/NAME. */
export function placesIn({ roles = [], projects = [], spaces = [], virtualClusters = [] }: Scope): string[] {
  const named = [
    ...[...projects, ...spaces].map(({ project = '' }) => project),
    ...virtualClusters.map(({ project = '', virtualCluster = '' }) => `${project}/${virtualCluster}`),
    ...roles.flatMap((role) => [
      ...(role.projects ?? []),
      ...(role.virtualClusters ?? []).filter((one) => one.includes('/')),
    ]),
  ]
  return [...new Set(named)]
}

/** Returns a sentence for each place that is not among the known ones, with the nearest one. Without any known ones there is nothing to say. */
export const unknownPlaces = (places: readonly string[], known: NamesByProject): string[] => [
  ...new Set(known.size === 0 ? [] : places.flatMap((place) => unknownPlace(place, known) ?? [])),
]

function unknownPlace(place: string, known: NamesByProject): string | undefined {
  const [project = '', name = '*'] = place.split('/')
  if (project === '' || project === '*') return undefined
  const names = known.get(project)
  if (names === undefined) {
    const guess = nearest(project, known.keys())
    return `You see no virtual cluster in a project "${project}".${guess === undefined ? '' : ` Did you mean "${guess}"?`}`
  }
  if (name === '' || name === '*' || names.includes(name)) return undefined
  const guess = nearest(name, names)
  return `You see no virtual cluster "${project}/${name}".${guess === undefined ? '' : ` Did you mean "${project}/${guess}"?`}`
}
