/** Writes rules that allow a set of requests and nothing else, in few rules. */

import type { Rule } from '../scopes/rules.ts'

/** One request, or several that differ only in what is absent. */
export interface Atom {
  verb: string
  where: Pick<Rule, 'requestTargets' | 'cluster' | 'virtualClusters'>
  /** A path, or a resource. `namespace` and `name` are absent for all. */
  what: { path: string } | { group: string; resource: string; namespace?: string; name?: string }
}

/** A rule as lists of texts. All lists multiply. */
type Draft = Record<Dimension, readonly string[]>
type Dimension = (typeof DIMENSIONS)[number]

/** The order in which drafts are merged that differ in one list only. */
const DIMENSIONS = ['names', 'verbs', 'kinds', 'paths', 'namespaces', 'targets', 'places', 'cluster'] as const

/** Returns rules that together allow exactly the requests. The same requests in another order have the same rules. */
export function exactRules(atoms: readonly Atom[]): Rule[] {
  let drafts = withoutCovered(atoms.map(draftOf))
  for (const dimension of DIMENSIONS) {
    // Names are those of a kind: from here on they are part of it.
    if (dimension === 'kinds') {
      drafts = drafts.map((draft) => ({
        ...draft,
        kinds: draft.kinds.map((kind) => JSON.stringify([...JSON.parse(kind), draft.names])),
        names: [],
      }))
    }
    if (dimension !== 'cluster') drafts = merged(drafts, dimension)
  }
  return drafts
    .map((draft) => [JSON.stringify(draft), ruleOf(draft)] as const)
    .sort(byText)
    .map(([, rule]) => rule)
}

const byText = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  one < other ? -1 : one > other ? 1 : 0

function draftOf({ verb, where: { requestTargets = [], cluster, virtualClusters = [] }, what }: Atom): Draft {
  const isPath = 'path' in what
  return {
    verbs: [verb],
    paths: isPath ? [what.path] : [],
    kinds: isPath ? [] : [JSON.stringify([what.group, what.resource])],
    names: isPath || what.name === undefined ? [] : [what.name],
    namespaces: isPath || what.namespace === undefined ? [] : [what.namespace],
    targets: requestTargets,
    places: virtualClusters.map(({ namespace, name }) => JSON.stringify([namespace, name])),
    cluster: cluster === undefined ? [] : [cluster],
  }
}

/** Removes drafts of which another one allows all, in all namespaces or for all names. */
function withoutCovered(drafts: readonly Draft[]): Draft[] {
  const distinct = new Map(drafts.map((draft) => [textOf(draft), draft]))
  return [...distinct.values()].filter((draft) => {
    const wider = [{ names: [] }, { namespaces: [] }, { names: [], namespaces: [] }].map((more) => ({
      ...draft,
      ...more,
    }))
    return !wider.some((one) => textOf(one) !== textOf(draft) && distinct.has(textOf(one)))
  })
}

const textOf = (draft: Draft): string => JSON.stringify(DIMENSIONS.map((dimension) => draft[dimension]))

/** Merges drafts that differ only in this list. An empty list means everything, so it merges with no other. */
function merged(drafts: readonly Draft[], dimension: Dimension): Draft[] {
  const alike = Map.groupBy(
    drafts,
    (draft) => `${draft[dimension].length > 0} ${textOf({ ...draft, [dimension]: [] })}`,
  )
  return [...alike.values()].flatMap(([first, ...others]) => {
    if (first === undefined) return []
    const all = new Set([first, ...others].flatMap((draft) => draft[dimension]))
    return [{ ...first, [dimension]: [...all].sort() }]
  })
}

/** Returns the rule as `exactRules` writes it, so that one that allows the same is found equal. */
export function sortedRule(rule: Rule): Rule {
  const { cluster, virtualClusters = [], requestTargets = [], resources = [], resourceNames = [] } = rule
  const sorted = (list: readonly string[] = []): string[] => [...new Set(list)].sort()
  const isPlaced = Boolean(cluster) || virtualClusters.length > 0
  return ruleOf({
    verbs: sorted(rule.verbs),
    // An entry without resources means all of its group. No resource is ''.
    kinds: sorted(
      resources.flatMap((entry) =>
        (entry.resources?.length ? entry.resources : ['']).map((resource) =>
          JSON.stringify([entry.group ?? '', resource, sorted([...(entry.resourceNames ?? []), ...resourceNames])]),
        ),
      ),
    ),
    names: [],
    paths: sorted(rule.nonResourceURLs),
    namespaces: sorted(rule.namespaces),
    targets: isPlaced ? [] : sorted(requestTargets),
    places: sorted(virtualClusters.map(({ namespace = '', name = '' }) => JSON.stringify([namespace, name]))),
    cluster: cluster ? [cluster] : [],
  })
}

function ruleOf({ verbs, kinds, paths, namespaces, targets, places, cluster: [cluster] }: Draft): Rule {
  const byNames = Map.groupBy(
    kinds.map((kind) => JSON.parse(kind) as [string, string, string[]]),
    ([group, , names]) => JSON.stringify([group, names]),
  )
  const resources = [...byNames.values()].map((alike) => {
    const [[group, , names] = ['', '', []]] = alike
    return {
      ...(group !== '' && { group }),
      resources: alike.map(([, resource]) => resource),
      ...(names.length > 0 && { resourceNames: names }),
    }
  })
  return {
    verbs: [...verbs],
    ...(resources.length > 0 && { resources }),
    ...(namespaces.length > 0 && { namespaces: [...namespaces] }),
    ...(paths.length > 0 && { nonResourceURLs: [...paths] }),
    ...(targets.length > 0 && { requestTargets: targets as NonNullable<Rule['requestTargets']> }),
    ...(cluster !== undefined && { cluster }),
    ...(places.length > 0 && {
      virtualClusters: places.map((place) => {
        const [namespace, name] = JSON.parse(place) as [string, string]
        return { name, namespace }
      }),
    }),
  }
}
