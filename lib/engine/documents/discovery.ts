/**
 * Builds the discovery documents from the kinds. Source: k8s.io/apiserver endpoints/discovery; kubernetes.io "API discovery".
 */
import type { Aggregated, DiscoveryDocuments } from '../endpoints/discovery/discovery.ts'
import { stringify } from '../meta/encoding/json.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { JsonObject } from '../meta/types.ts'
import { computedVerbs, type ServedKind, statusVerbs, storedVerbs } from '../registry/kind.ts'
import { contentHash } from './contenthash.ts'
import { gvkOf } from './paths.ts'

const verbs = {
  stored: storedVerbs,
  virtual: ['create'],
  computed: computedVerbs,
  absent: ['get', 'list', 'watch'],
} as const

/** Returns the verbs of a kind, without those of its subresources. */
export const verbsOf = (kind: Pick<ServedKind, 'archetype' | 'verbs'>): readonly string[] =>
  kind.verbs ?? verbs[kind.archetype]

/** Returns the entries of a kind. The resource comes before its subresources, because clients use the first entry of a kind. */
function resourcesOf(kind: ServedKind): JsonObject[] {
  const common = { kind: kind.kind, namespaced: kind.scope === 'Namespaced' }
  const below = (subresource: string, verbs: readonly string[]) => {
    return { ...common, name: `${kind.plural}/${subresource}`, singularName: '', verbs: [...verbs] }
  }
  if (kind.subresource) return [below(kind.subresource, verbsOf(kind))]
  const main = {
    ...common,
    name: kind.plural,
    singularName: kind.singular,
    verbs: [...verbsOf(kind)],
    ...namesOf(kind),
  }
  return hasStatus(kind) ? [main, below('status', statusVerbs)] : [main]
}

const hasStatus = ({ archetype, schema }: ServedKind): boolean => archetype === 'stored' && schema.status !== undefined

/** Returns the other names of a kind. */
const namesOf = ({ shortNames, categories }: ServedKind): JsonObject => ({
  ...(shortNames && { shortNames: [...shortNames] }),
  ...(categories && { categories: [...categories] }),
})

/** Returns the kinds by group and version, in their given order. The core group is '' and has documents of its own. */
const groupKinds = (kinds: readonly ServedKind[]) =>
  [...Map.groupBy(kinds, ({ group }) => group)].map(([name, own]) => ({
    name,
    versions: [...Map.groupBy(own, ({ version }) => version)],
  }))

/** Returns the documents at /apis and below by path. */
function groupDocuments(kinds: readonly ServedKind[]): Record<string, JsonObject> {
  const groups = groupKinds(kinds).map(({ name, versions }) => {
    const list = versions.map(([version]) => ({ groupVersion: groupVersion({ group: name, version }), version }))
    return { versions, entry: { name, versions: list, preferredVersion: list[0] ?? {} } }
  })
  const list = { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(({ entry }) => entry) }
  return Object.fromEntries([
    ['/apis', list],
    ...groups.flatMap(({ versions, entry }) => [
      [`/apis/${entry.name}`, { kind: 'APIGroup', apiVersion: 'v1', ...entry }],
      ...versions.map(([version, own]) => {
        const path = `${entry.name}/${version}`
        return [`/apis/${path}`, apiResourceList(path, own)]
      }),
    ]),
  ])
}

/** Returns the document of a group version. */
const apiResourceList = (groupVersion: string, kinds: readonly ServedKind[]): JsonObject => ({
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion,
  resources: kinds.flatMap(resourcesOf),
})

function aggregatedResource(kind: ServedKind, siblings: readonly ServedKind[]): JsonObject {
  const responseKind = gvkOf(kind)
  const below = siblings.filter(({ plural, subresource }) => subresource !== undefined && plural === kind.plural)
  const subresources = [
    ...(hasStatus(kind) ? [{ subresource: 'status', responseKind, verbs: [...statusVerbs] }] : []),
    ...below.map((one) => ({ subresource: one.subresource ?? '', responseKind: gvkOf(one), verbs: [...verbsOf(one)] })),
  ]
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.scope,
    singularResource: kind.singular,
    verbs: [...verbsOf(kind)],
    ...namesOf(kind),
    ...(subresources.length > 0 && { subresources }),
  }
}

const aggregatedGroups = (kinds: readonly ServedKind[], discoveryVersion: string): JsonObject => ({
  kind: 'APIGroupDiscoveryList',
  apiVersion: `apidiscovery.k8s.io/${discoveryVersion}`,
  metadata: {},
  items: groupKinds(kinds).map(({ name, versions }) => ({
    metadata: name ? { name } : {},
    versions: versions.map(([version, own]) => ({
      version,
      resources: own.filter(({ subresource }) => !subresource).map((kind) => aggregatedResource(kind, own)),
      freshness: 'Current',
    })),
  })),
})

/** Returns the document at /apis, or for kinds of the core group at /api, in the aggregated form. */
function aggregatedDocument(kinds: readonly ServedKind[]): Aggregated {
  const inVersion = (version: keyof Aggregated) => {
    const value = aggregatedGroups(kinds, version)
    return { value, etag: `"${contentHash(stringify(value))}"` }
  }
  return { v2: inVersion('v2'), v2beta1: inVersion('v2beta1') }
}

/** Returns the documents of discovery for kinds, among them those of the core group. */
export function discoveryDocuments(kinds: readonly ServedKind[]): DiscoveryDocuments {
  const [core, grouped] = [kinds.filter(({ group }) => group === ''), kinds.filter(({ group }) => group !== '')]
  const lists = [...Map.groupBy(core, ({ version }) => version)]
  return {
    documents: {
      ...groupDocuments(grouped),
      ...Object.fromEntries(lists.map(([version, own]) => [`/api/${version}`, apiResourceList(version, own)])),
    },
    aggregated: { '/api': aggregatedDocument(core), '/apis': aggregatedDocument(grouped) },
  }
}
