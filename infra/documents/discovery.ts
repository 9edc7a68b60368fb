/**
 * Builds the discovery documents from the kinds. Source: k8s.io/apiserver endpoints/discovery; kubernetes.io "API discovery".
 */
import { groupVersion } from '../../lib/meta/groupversion.ts'
import type { JsonObject } from '../../lib/meta/types.ts'
import { type ServedKind, statusVerbs, storedVerbs } from '../../lib/registry/kind.ts'

const verbs = { stored: storedVerbs, virtual: ['create'], absent: ['get', 'list', 'watch'] } as const

/** Returns the verbs of a kind, without those of its subresources. */
export const verbsOf = (kind: Pick<ServedKind, 'archetype' | 'verbs'>): readonly string[] =>
  kind.verbs ?? verbs[kind.archetype]

interface Resource {
  name: string
  kind: string
  namespaced: boolean
  singularName: string
  verbs: readonly string[]
  shortNames?: readonly string[]
  categories?: readonly string[]
}

/** Returns the entries of a kind. The resource comes before its subresources, because clients use the first entry of a kind. */
function resourcesOf(kind: ServedKind): Resource[] {
  const common = { kind: kind.kind, namespaced: kind.scope === 'Namespaced' }
  if (kind.subresource) {
    return [{ ...common, name: `${kind.plural}/${kind.subresource}`, singularName: '', verbs: ['create'] }]
  }
  const main: Resource = {
    ...common,
    name: kind.plural,
    singularName: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames && { shortNames: kind.shortNames }),
    ...(kind.categories && { categories: kind.categories }),
  }
  const hasStatus = kind.archetype === 'stored' && kind.schema.status !== undefined
  return hasStatus ? [main, { ...common, name: `${kind.plural}/status`, singularName: '', verbs: statusVerbs }] : [main]
}

/** Groups the kinds by group and version, in their given order. The core group is '' and has documents of its own. */
function groupKinds(kinds: readonly ServedKind[]): Map<string, Map<string, ServedKind[]>> {
  const groups = new Map<string, Map<string, ServedKind[]>>()
  for (const kind of kinds) {
    const versions = groups.get(kind.group) ?? new Map<string, ServedKind[]>()
    versions.set(kind.version, [...(versions.get(kind.version) ?? []), kind])
    groups.set(kind.group, versions)
  }
  return groups
}

function groupEntry(name: string, versions: Iterable<string>): JsonObject {
  const list = [...versions].map((version) => ({ groupVersion: groupVersion({ group: name, version }), version }))
  return { name, versions: list, preferredVersion: list[0] ?? {} }
}

/** Returns the documents at /apis and below by path. */
export const discoveryDocuments = (kinds: readonly ServedKind[]): Record<string, JsonObject> => {
  const groups = [...groupKinds(kinds)].map(([name, versions]) => ({
    versions,
    entry: groupEntry(name, versions.keys()),
  }))
  const list = { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(({ entry }) => entry) }
  return Object.fromEntries([
    ['/apis', list],
    ...groups.flatMap(({ versions, entry }) => [
      [`/apis/${entry.name}`, { kind: 'APIGroup', apiVersion: 'v1', ...entry }],
      ...[...versions].map(([version, own]) => {
        const path = `${entry.name}/${version}`
        return [`/apis/${path}`, apiResourceList(path, own)]
      }),
    ]),
  ])
}

/** Returns the document of a group version. */
export const apiResourceList = (groupVersion: string, kinds: readonly ServedKind[]): JsonObject => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: kinds.flatMap(resourcesOf).map((resource) => ({ ...resource })) as unknown as JsonObject[],
})

function aggregatedResource(kind: ServedKind, siblings: readonly ServedKind[]): JsonObject | undefined {
  if (kind.subresource) return undefined
  const gvk = (one: ServedKind) => ({ group: one.group, version: one.version, kind: one.kind })
  const [main, ...own] = resourcesOf(kind)
  if (!main) return undefined
  const subresources = [
    ...own.map(({ verbs }) => ({ subresource: 'status', responseKind: gvk(kind), verbs: [...verbs] })),
    ...siblings
      .filter(({ plural, subresource }) => subresource !== undefined && plural === kind.plural)
      .map((one) => ({ subresource: one.subresource ?? '', responseKind: gvk(one), verbs: ['create'] })),
  ]
  return {
    resource: kind.plural,
    responseKind: gvk(kind),
    scope: kind.scope,
    singularResource: kind.singular,
    verbs: [...main.verbs],
    ...(kind.shortNames && { shortNames: [...kind.shortNames] }),
    ...(kind.categories && { categories: [...kind.categories] }),
    ...(subresources.length > 0 && { subresources }),
  }
}

const aggregatedList = (version: string, items: JsonObject[]): JsonObject => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${version}`,
  metadata: {},
  items,
})

function aggregatedGroup(name: string, versions: ReadonlyMap<string, ServedKind[]>): JsonObject {
  return {
    metadata: name ? { name } : {},
    versions: [...versions].map(([version, own]) => ({
      version,
      resources: own.map((kind) => aggregatedResource(kind, own)).filter((one) => one !== undefined),
      freshness: 'Current',
    })),
  }
}

/** Returns the document at /apis, or for kinds of the core group at /api, in the aggregated form. */
export function aggregatedGroups(kinds: readonly ServedKind[], discoveryVersion: string): JsonObject {
  const items = [...groupKinds(kinds)].map(([name, versions]) => aggregatedGroup(name, versions))
  return aggregatedList(discoveryVersion, items)
}
