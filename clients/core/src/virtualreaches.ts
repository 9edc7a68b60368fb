/** Says who may get a kube config of a virtual cluster, and why, from what lists of keys and trusts show, as the server decides it. */
import { type Entry, entries } from '../../../lib/access/scopes/unrestricted.ts'
import type { TrustSpec } from '../../../lib/federation/federatedidentitycredential.schema.ts'
import { opens } from './accessrules.ts'
import type { Cluster, VirtualCluster } from './objects.ts'
import { projectIn } from './projects.ts'
import {
  allowsCreating,
  type Holder,
  hasReviews,
  REACH_WORDS,
  type Reach,
  reachOf,
  throughAllScopes,
} from './reaches.ts'

/** A key, or a trust, whose keys may get their user from the ID token. */
export type Asking = Holder & { spec: Pick<TrustSpec, 'claimMappings'>; status?: { owner?: string } }

/** Why somebody may get a kube config: what of the virtual cluster opens it to them, and what their scopes allow. */
export interface VirtualReach {
  right: 'administrator' | 'owner' | 'access'
  reach: Reach
}

/** Returns why a key, or the keys of a trust, may get a kube config of the virtual cluster; undefined if they may not. */
export function virtualReachOf(holder: Asking, instance: VirtualCluster, prefix: string): VirtualReach | undefined {
  const right = rightTo(holder, instance)
  const reach = throughAllScopes(holder, (scope) => reachOfScope(scope, instance, prefix))
  return right && reach && { right, reach }
}

/** Says it to people. */
export const virtualReachWords = ({ right, reach }: VirtualReach): string =>
  reach === 'administrator' ? REACH_WORDS[reach] : `${RIGHTS[right]}, ${REACH_WORDS[reach]}`

/** Returns why somebody gets into a connected or a virtual cluster, in words; undefined if they do not. */
export function wayInto(holder: Asking, cluster: Cluster | VirtualCluster, prefix: string): string | undefined {
  const { name, namespace } = cluster.metadata
  const reach = reachOf(holder, name)
  if (namespace === undefined) return reach && REACH_WORDS[reach]
  const virtual = virtualReachOf(holder, cluster as VirtualCluster, prefix)
  return virtual && virtualReachWords(virtual)
}

const RIGHTS = { administrator: 'administrator', owner: 'owner', access: 'its access rules' }

/** Returns what of the virtual cluster opens it to the user, or to somebody whom a trust may map. */
function rightTo(
  { spec, status }: Asking,
  { spec: { owner = {}, access = [] } = {} }: VirtualCluster,
): VirtualReach['right'] | undefined {
  const { claimMappings: mapped, team } = spec
  const own = status?.owner ?? ''
  const more = mapped ? (mapped.groups ?? []).map(({ group }) => group) : [own, ...(team ? [`team:${team}`] : [])]
  const groups = [...(spec.groups ?? []), ...more]
  const isUser = (name = '') =>
    name !== '' && (mapped ? name.startsWith(mapped.username.prefix) : name === own && !/^(team|subject):/.test(own))
  const isMember = (name = '') => name !== '' && groups.includes(`team:${name}`)
  if (groups.includes('system:masters')) return 'administrator'
  if (isUser(owner.user) || isMember(owner.team)) return 'owner'
  const isNamed = access.some((rule) => opens(rule) && (rule.users?.some(isUser) || rule.teams?.some(isMember)))
  return isNamed ? 'access' : undefined
}

const KUBE_CONFIGS = ['*', '*/*', '*/kubeconfig', 'virtualclusterinstances/*', 'virtualclusterinstances/kubeconfig']

function reachOfScope(scope: Entry, { metadata }: VirtualCluster, prefix: string): Reach | undefined {
  const { name, namespace = '' } = metadata
  const project = projectIn(namespace, prefix)
  if (project !== undefined) {
    const inProject = hasReviews(scope) ? [] : entries(scope.virtualClusters).filter((one) => one.project === project)
    if (inProject.some(({ virtualCluster }) => virtualCluster === name)) return 'named'
    const projects = entries(scope.projects).map((one) => one.project)
    if (projects.includes(project) || inProject.some(({ virtualCluster }) => virtualCluster === '*')) return 'project'
    if (projects.includes('*')) return 'every project'
  }
  return entries(scope.rules).some((rule) => allowsCreating(rule, KUBE_CONFIGS, metadata)) ? 'rule' : undefined
}
