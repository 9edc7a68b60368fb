/**
 * Says who may get a token for a connected cluster, and why, from what lists of keys and trusts show. What a token may do is decided by its
 * scope and the RBAC of the cluster. Keys with which clusters ask for reviews get none.
 */
import { type Entry, entries, isEntry } from '../../../lib/access/scopes/unrestricted.ts'
import type { AccessKey } from './objects.ts'

/** Why somebody may get a token, from the narrowest to the widest. */
const REASONS = [
  'named',
  'project',
  'spaces',
  'rule',
  'every cluster',
  'every project',
  'no scope',
  'administrator',
] as const
export type Reach = (typeof REASONS)[number]

/** What the reasons say to people. */
export const REACH_WORDS: Readonly<Record<Reach, string>> = {
  named: 'its scope names the cluster',
  project: 'its scope names the project',
  spaces: 'its scope names spaces or projects, which are in every cluster',
  rule: 'a rule of its scope',
  'every cluster': 'its scope names every cluster (*)',
  'every project': 'its scope names every project (*)',
  'no scope': 'no scope limits it',
  administrator: 'administrator without a scope',
}

/** What a key, or a trust, says of itself. */
export type Holder = Pick<AccessKey, 'spec'> & { status?: Pick<NonNullable<AccessKey['status']>, 'addedScopes'> }

/** Returns why a key, or the keys of a trust, may get a token for the connected cluster; undefined if they may not. */
export const reachOf = (holder: Holder, cluster: string): Reach | undefined =>
  throughAllScopes(holder, (scope) => reachOfScope(scope, cluster))

/** Returns the narrowest of the reasons for which the scopes of a holder allow something; undefined if one of them does not. */
export function throughAllScopes(
  { spec, status }: Holder,
  reach: (scope: Entry) => Reach | undefined,
): Reach | undefined {
  const scopes = [spec.scope, ...(status?.addedScopes ?? [])].filter((scope) => scope !== undefined)
  if (scopes.length === 0) return spec.groups?.includes('system:masters') ? 'administrator' : 'no scope'
  const reaches = scopes.map((scope) => reach(scope as Entry))
  return reaches.includes(undefined) ? undefined : REASONS.find((reason) => reaches.includes(reason))
}

const REVIEWING: readonly unknown[] = ['agent', 'vcluster']

/** Reports whether the clusters of a scope are those for which it gets no tokens, as they ask with it. */
export const hasReviews = (scope: Entry): boolean => entries(scope.roles).some(({ role }) => REVIEWING.includes(role))

/** Reports whether a rule allows to create an object of this API whose resource has one of these patterns. */
export function allowsCreating(rule: Entry, patterns: readonly string[], { namespace = '', name = '' } = {}): boolean {
  const { verbs, requestTargets, resources, resourceNames, namespaces, nonResourceURLs } = rule
  if (!allows(verbs, 'create') && !listed(verbs).includes('*')) return false
  if (!allows(requestTargets, 'Management') || rule.cluster || !isEmpty(rule.virtualClusters)) return false
  if (!allows(resourceNames, name) || !allows(namespaces, namespace) || !isEmpty(nonResourceURLs)) return false
  const isFor = (one: unknown) =>
    isEntry(one) &&
    (one.group ?? '') === 'management.platform' &&
    allows(one.resourceNames, name) &&
    (isEmpty(one.resources) || patterns.some((pattern) => listed(one.resources).includes(pattern)))
  return isEmpty(resources) || listed(resources).some(isFor)
}

const TOKENS = ['*', 'directclusterendpointtokens']

function reachOfScope(scope: Entry, cluster: string): Reach | undefined {
  const rules = entries(scope.rules)
  const named = entries(scope.clusters).map((entry) => entry.cluster)
  const asks =
    (named.some((name) => name !== undefined && name !== '') && !hasReviews(scope)) ||
    rules.some((rule) => allowsCreating(rule, TOKENS))
  if (!asks) return undefined
  const reaching = rules.filter((rule) => isEmpty(rule.virtualClusters) && allows(rule.requestTargets, 'Cluster'))
  if (named.includes(cluster)) return 'named'
  if (reaching.some((rule) => rule.cluster === cluster)) return 'rule'
  if (named.includes('*')) return 'every cluster'
  if (reaching.some((rule) => !rule.cluster)) return 'rule'
  const everySpace = rules.some(
    (rule) => isEmpty(rule.virtualClusters) && !rule.cluster && allows(rule.requestTargets, 'ProjectSpace'),
  )
  const hasSpaces = everySpace || entries(scope.projects).length > 0 || entries(scope.spaces).length > 0
  return hasSpaces ? 'spaces' : undefined
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isEmpty = (value: unknown): boolean => listed(value).length === 0
const allows = (list: unknown, one: string): boolean => isEmpty(list) || listed(list).includes(one)
