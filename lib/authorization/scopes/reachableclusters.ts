/**
 * Which connected clusters a chain of scopes leaves anything of; what exactly is judged at each request. A scope that
 * speaks of spaces or projects does not say in which clusters: it leaves those spaces of every cluster.
 */
import { dnsLabelErrors, dnsSubdomainErrors } from '../../meta/object/names.ts'
import type { Scope, ScopeChain } from './scope.ts'

export type Clusters = 'all' | ReadonlySet<string>

/** Each cluster in which every scope of the chain leaves something in common; of an empty chain all. */
export function reachableClusters(chain: ScopeChain): Clusters {
  const areas = chain.map(areaOf)
  if (leavesSomething(areas, undefined)) return 'all'
  const named = areas.flatMap(({ clusters }) => (clusters === 'all' ? [] : [...clusters]))
  return new Set(named.filter((cluster) => leavesSomething(areas, cluster)))
}

/** What a scope leaves of connected clusters: some of them as a whole, and some spaces of all of them. */
interface Area {
  clusters: Clusters
  spaces: readonly Space[]
}

/** `*` is all. Of two of them one contains the other, or they have nothing in common. */
interface Space {
  project: string
  space: string
}

/** Of this cluster, or (undefined) of one that no scope names. */
function leavesSomething(areas: readonly Area[], cluster: string | undefined): boolean {
  const confined = areas.filter(
    ({ clusters }) => clusters !== 'all' && !(cluster !== undefined && clusters.has(cluster)),
  )
  const [first, ...others] = confined.map(({ spaces }) => spaces)
  return first === undefined || others.reduce(inBoth, first).length > 0
}

function inBoth(some: readonly Space[], others: readonly Space[]): readonly Space[] {
  const both = some.flatMap((one) => others.flatMap((other) => inBothSpaces(one, other) ?? []))
  return [...new Map(both.map((space) => [JSON.stringify(space), space])).values()]
}

function inBothSpaces(one: Space, other: Space): Space | undefined {
  const project = one.project === '*' ? other.project : one.project
  const space = one.space === '*' ? other.space : one.space
  const meet = (a: string, b: string) => a === b || a === '*' || b === '*'
  return meet(one.project, other.project) && meet(one.space, other.space) ? { project, space } : undefined
}

function areaOf({ clusters = [], projects = [], spaces = [], rules = [] }: Scope): Area {
  const named = clusters.map(({ cluster = '' }) => cluster)
  // A rule about virtual clusters is about nothing else (specification 2.3).
  const places = rules.filter(({ virtualClusters = [] }) => virtualClusters.length === 0)
  const reaching = places.filter(reaches('Cluster')).map(({ cluster = '' }) => cluster)
  const everySpace = places.some((rule) => !rule.cluster && reaches('ProjectSpace')(rule))
  const all = named.includes('*') || reaching.includes('')
  return {
    clusters: all ? 'all' : new Set([...named, ...reaching].filter(isClusterName)),
    spaces: [
      ...(everySpace ? [{ project: '*', space: '*' }] : []),
      ...projects.map(({ project = '' }) => ({ project, space: '*' })),
      ...spaces.map(({ project = '', space = '' }) => ({ project, space })).filter(({ project }) => project !== '*'),
    ].filter(({ project, space }) =>
      [project, space].every((name) => name === '*' || dnsLabelErrors(name).length === 0),
    ),
  }
}

type Rule = NonNullable<Scope['rules']>[number]

const reaches =
  (target: 'Cluster' | 'ProjectSpace') =>
  ({ requestTargets = [] }: Rule): boolean =>
    requestTargets.length === 0 || requestTargets.includes(target)

/** A name of any other shape (`*`, `a/../b`) would mean something else inside a URL. */
const isClusterName = (name: string): boolean => dnsSubdomainErrors(name).length === 0
