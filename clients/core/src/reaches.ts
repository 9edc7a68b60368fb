/**
 * Says who may get a token for a connected cluster, and why, from what lists of keys and trusts show. What a token may do is decided by its
 * scope and the RBAC of the cluster. Keys with which clusters ask for reviews get none.
 */
import { type Entry, entries, isEntry } from '../../../lib/access/scopes/unrestricted.ts'
import type { AccessKey } from './objects.ts'

/** Why somebody may get a token, from the narrowest to the widest. */
const REASONS = ['named', 'spaces', 'rule', 'every cluster', 'no scope', 'administrator'] as const
export type Reach = (typeof REASONS)[number]

/** What the reasons say to people. */
export const REACH_WORDS: Readonly<Record<Reach, string>> = {
  named: 'its scope names the cluster',
  spaces: 'its scope names spaces or projects, which are in every cluster',
  rule: 'a rule of its scope',
  'every cluster': 'its scope names every cluster (*)',
  'no scope': 'no scope limits it',
  administrator: 'administrator without a scope',
}

/** What a key, or a trust, says of itself. */
export type Holder = Pick<AccessKey, 'spec'> & { status?: Pick<NonNullable<AccessKey['status']>, 'addedScopes'> }

/** Returns why a key, or the keys of a trust, may get a token for the cluster; undefined if they may not. */
export function reachOf({ spec, status }: Holder, cluster: string): Reach | undefined {
  const scopes = [spec.scope, ...(status?.addedScopes ?? [])].filter((scope) => scope !== undefined)
  if (scopes.length === 0) return spec.groups?.includes('system:masters') ? 'administrator' : 'no scope'
  const reaches = scopes.map((scope) => reachOfScope(scope as Entry, cluster))
  if (reaches.includes(undefined)) return undefined
  return REASONS.find((reason) => reaches.includes(reason))
}

const REVIEWING: readonly unknown[] = ['agent', 'vcluster']

function reachOfScope(scope: Entry, cluster: string): Reach | undefined {
  const rules = entries(scope.rules)
  const named = entries(scope.clusters).map((entry) => entry.cluster)
  const asks =
    (named.some((name) => name !== undefined && name !== '') && !hasReviews(scope)) || rules.some(allowsTokens)
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

const hasReviews = (scope: Entry): boolean => entries(scope.roles).some(({ role }) => REVIEWING.includes(role))

/** Reports whether a rule allows to ask for tokens. */
function allowsTokens(rule: Entry): boolean {
  const { verbs, requestTargets, resources, resourceNames, namespaces, nonResourceURLs } = rule
  if (!allows(verbs, 'create') && !listed(verbs).includes('*')) return false
  if (!allows(requestTargets, 'Management') || rule.cluster || !isEmpty(rule.virtualClusters)) return false
  if (!isEmpty(resourceNames) || !allows(namespaces, '')) return false
  if (isEmpty(resources)) return isEmpty(nonResourceURLs)
  return (
    isEmpty(nonResourceURLs) &&
    listed(resources).some(
      (one) =>
        isEntry(one) &&
        (one.group ?? '') === 'management.platform' &&
        isEmpty(one.resourceNames) &&
        (isEmpty(one.resources) ||
          ['*', 'directclusterendpointtokens'].some((name) => listed(one.resources).includes(name))),
    )
  )
}

const listed = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const isEmpty = (value: unknown): boolean => listed(value).length === 0
const allows = (list: unknown, one: string): boolean => isEmpty(list) || listed(list).includes(one)
