/** Defines Cluster, which gives a connected cluster an address so that users can create kubeconfigs for it. */

import { evaluateHere } from '../access/scopes/evaluate.ts'
import { reachesCluster } from '../access/scopes/reachableclusters.ts'
import { mastersOnly } from '../access/users/administrators.ts'
import { isMaster } from '../access/users/identity.ts'
import { forbiddenInstanceChange, mayAccess } from '../access/users/instances.ts'
import type { UserInfo } from '../access/users/user.ts'
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { dnsLabelErrors } from '../engine/meta/object/names.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import { column, wide } from '../engine/registry/column.ts'
import {
  type Column,
  groupResource,
  type Planned,
  type StoredKind,
  type Strategy,
  type Write,
} from '../engine/registry/kind.ts'
import { refuseInvalid } from '../engine/registry/store.ts'
import type { Stored } from '../engine/storage/interface.ts'
import type { Services } from '../keys/services.ts'
import { KINDS } from '../kinds.ts'
import { type Spec, spec, status } from './cluster.schema.ts'
import { clusterTarget } from './serviceaccounts/target.ts'
import { directWarnings, ENDING_WARNING, endingOf, forbiddenReach } from './serviceaccounts.ts'
import { validateCluster } from './validateinstance.ts'

const { subresource: KUBE_CONFIG } = KINDS.ClusterKubeConfig

/** The members that determine access and where kubeconfigs point. Only system:masters may change them. */
const PROTECTED = [
  'server',
  'certificateAuthorityData',
  'proxyURL',
  'tlsServerName',
  'tokens',
  'access',
  'serviceAccounts',
  'credentials',
] as const

/** The members that determine to which address this service sends which credentials. A scope must not reach them. */
const REACH = ['tokens', 'serviceAccounts', 'credentials'] as const
/** The same for clusters that are reached where their object says. */
const EKS_REACH = [...REACH, 'server', 'certificateAuthorityData'] as const

const specOf = ({ object }: Pick<Stored, 'object'>): Partial<Spec> => (object.spec ?? {}) as Partial<Spec>

const columns: readonly Column[] = [
  column('Server', 'spec.server', 'URL of the API server.'),
  column('Can Use', 'status.canUse', 'Whether you may create a kubeconfig for the cluster.', { type: 'boolean' }),
  {
    name: 'Tokens',
    type: 'string',
    description: 'Which tokens the kubeconfigs have.',
    priority: 1,
    value: ({ spec }) => (spec as Spec | undefined)?.tokens ?? 'Issuer',
  },
  column('Display Name', 'spec.displayName', 'Name shown in the UI.', wide),
]

/** Reports whether the scopes and the access rules let a user create the kubeconfig of a cluster. */
export function mayUseCluster({ scopes }: Services, stored: Stored, user: UserInfo): boolean {
  const { name = '' } = stored.object.metadata
  return (
    evaluateHere(user.chain, KINDS.Cluster, { verb: 'create', subresource: KUBE_CONFIG, name }, scopes).allowed &&
    reachesCluster(user.chain, name) &&
    mayAccess(user, specOf(stored), 'create', KUBE_CONFIG).allowed
  )
}

/** Validates that the name is a DNS label: it is part of audiences and of the names in kubeconfigs. */
const nameErrors = ({ metadata: { name = '' } }: KubeObject): FieldError[] =>
  dnsLabelErrors(name).map((text) => invalid('metadata.name', name, text))

function plan({ type, draft, before, context: { user, now } }: Write): Planned {
  const items = (object: KubeObject) => endingOf(clusterTarget, type === 'delete' ? undefined : { object }, before, now)
  if (type === 'status') return { items }
  if (type === 'delete' || type === 'mark') return { items, deleteWarning: deleteWarning(before.object) }
  const [next, old] = [specOf(draft), before && specOf(before)]
  refuseInvalid(draft.object, [...(before ? [] : nameErrors(draft.object)), ...validateCluster(next, old)])
  const refusal =
    (old && forbiddenInstanceChange(user, old, draft.object.spec ?? {}, PROTECTED)) ??
    forbiddenReach([next, old].some((spec) => spec?.credentials?.eks) ? EKS_REACH : REACH, next, old ?? {}, user)
  return { refusal, items, warnings: directWarnings(next) }
}

/** Names in scopes need no object, and the cluster has its own configuration. */
const deleteWarning = (cluster: KubeObject): string =>
  clusterTarget(cluster)
    ? ENDING_WARNING
    : `access keys whose scopes allow cluster "${cluster.metadata.name}" still make tokens for it, which it accepts until its API server is disconnected: deleting the object ends no access`

const strategy = (services: Services): Strategy => ({
  access(stored, verb, subresource, user) {
    if (!stored) return mastersOnly(user, 'only system:masters may create clusters')
    const decision = mayAccess(user, specOf(stored), verb, subresource)
    if (decision.allowed) return { type: 'allowed', rule: decision.reason }
    return mayAccess(user, specOf(stored), 'get', '').allowed
      ? { type: 'denied', reason: 'spec.access of the cluster does not allow it' }
      : { type: 'hidden' }
  },
  mayRefer: (_value, _object, user) =>
    isMaster(user) && user.chain.length === 0 ? undefined : 'only system:masters without a scope may set it',
  plan,
  status: (stored, { user }) => ({ canUse: mayUseCluster(services, stored, user) }),
})

export const Cluster: StoredKind<Services> = {
  ...KINDS.Cluster,
  description:
    'A connected cluster that users can create kubeconfigs for. The RBAC of the cluster decides what their tokens may do there.',
  grantsAccess: true,
  schema: { spec, status },
  table: { resource: groupResource(KINDS.Cluster).resource, partitions: () => [], activity: false },
  columns,
  selectableFields: ['spec.server'],
  strategy,
}
