/** Defines VirtualClusterInstance, which registers a virtual cluster so that users can create kubeconfigs for it. */

import { evaluateHere } from '../access/scopes/evaluate.ts'
import { mastersOnly } from '../access/users/administrators.ts'
import { isMaster } from '../access/users/identity.ts'
import { forbiddenInstanceChange, type InstanceSpec, mayAccess } from '../access/users/instances.ts'
import type { UserInfo } from '../access/users/user.ts'
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
import { instanceTarget } from './serviceaccounts/target.ts'
import { SERVICE_ACCOUNTS } from './serviceaccounts/tokens.ts'
import { directWarnings, ENDING_WARNING, endingOf, forbiddenReach } from './serviceaccounts.ts'
import { validateInstance } from './validateinstance.ts'
import { type Spec, spec, status } from './virtualclusterinstance.schema.ts'

const resource = groupResource(KINDS.VirtualClusterInstance)
const { subresource: KUBE_CONFIG } = KINDS.VirtualClusterInstanceKubeConfig

const specOf = ({ object }: Pick<Stored, 'object'>): Spec => (object.spec ?? {}) as Spec

const columns: readonly Column[] = [
  column('Phase', 'status.phase', 'Current phase of the instance.'),
  {
    name: 'Cluster',
    type: 'string',
    description: 'Connected cluster that the instance runs in.',
    value: ({ spec }) => (spec as Spec | undefined)?.clusterRef?.cluster,
  },
  {
    name: 'Host',
    type: 'string',
    description: 'Host name of the ingress endpoint.',
    value: ({ spec }) => (spec as Spec | undefined)?.accessPoint?.ingress?.host,
  },
  {
    name: 'Owner',
    type: 'string',
    description: 'Owner of the instance.',
    priority: 1,
    value: ({ spec }) => {
      const { user, team } = (spec as Spec | undefined)?.owner ?? {}
      return user || (team && `team:${team}`)
    },
  },
  column('Display Name', 'spec.displayName', 'Name shown in the UI.', wide),
]

/** Reports whether the scopes, the owner and the access rules let a user create the kubeconfig of an instance. */
export function mayUseInstance({ scopes }: Services, { object }: Stored, user: UserInfo): boolean {
  const { namespace = '', name = '' } = object.metadata
  const asked = { verb: 'create', subresource: KUBE_CONFIG, namespace, name }
  return (
    evaluateHere(user.chain, KINDS.VirtualClusterInstance, asked, scopes).allowed &&
    mayAccess(user, specOf({ object }), 'create', KUBE_CONFIG).allowed
  )
}

/** The members that determine to which address this service sends which credentials, if service accounts issue the tokens. */
const REACH = ['tokens', 'serviceAccounts', 'credentialsSecretRef', 'accessPoint'] as const

/**
 * Returns why the user may not use a secret as the credentials of an instance, or undefined. Whoever points an instance at a secret
 * opens the virtual cluster of the instance NAMESPACE/NAME in the name of the secret, so they must be allowed to change that one.
 */
function forbiddenSecret({ scopes }: Services, secret: string, { metadata, spec = {} }: KubeObject, user: UserInfo) {
  if (secret === '' || (isMaster(user) && user.chain.length === 0)) return undefined
  if (secret !== (spec as Spec).credentialsSecretRef?.secretName)
    return 'only system:masters without a scope may set it'
  const { namespace = '', name = '' } = metadata
  const [place, instance = '', ...more] = secret.split('/')
  const isName = [instance, ...more].every((step) => step !== '' && step !== '.' && step !== '..')
  if (place !== namespace || !isName)
    return `must begin with "${namespace}/", unless system:masters without a scope sets it`
  const mayChange = ['update', 'patch'].some(
    (verb) =>
      evaluateHere(user.chain, KINDS.VirtualClusterInstance, { verb, namespace, name: instance }, scopes).allowed,
  )
  if (instance === name || mayChange) return undefined
  return `the access key used has a scope that does not allow changing virtual cluster instance "${place}/${instance}"`
}

function plan({ type, draft, before, context: { user, now } }: Write): Planned {
  const items = (object: KubeObject) =>
    endingOf(instanceTarget, type === 'delete' ? undefined : { object }, before, now)
  if (type === 'status') return { items }
  if (type === 'delete' || type === 'mark')
    return { items, deleteWarning: instanceTarget(before.object) ? ENDING_WARNING : undefined }
  refuseInvalid(draft.object, validateInstance(draft.object, before?.object))
  const [next, old] = [specOf(draft), before && specOf(before)]
  const isReached = [next, old].some((spec) => spec?.tokens === SERVICE_ACCOUNTS)
  const refusal =
    (old && forbiddenInstanceChange(user, old, next)) ??
    (isReached ? forbiddenReach(REACH, next, old ?? {}, user) : undefined)
  return { refusal, items, warnings: directWarnings(next) }
}

const strategy = (services: Services): Strategy => ({
  access(stored, verb, subresource, user) {
    if (!stored) return mastersOnly(user, 'only system:masters may create virtual cluster instances')
    const instance = specOf(stored) as InstanceSpec
    const decision = mayAccess(user, instance, verb, subresource)
    if (decision.allowed) return { type: 'allowed', rule: decision.reason }
    return mayAccess(user, instance, 'get', '').allowed
      ? { type: 'denied', reason: decision.reason }
      : { type: 'hidden' }
  },
  mayRefer: (value, object, user) => forbiddenSecret(services, value, object, user),
  plan,
  status: (stored, { user }) => ({ canUse: mayUseInstance(services, stored, user) }),
})

export const VirtualClusterInstance: StoredKind<Services> = {
  ...KINDS.VirtualClusterInstance,
  categories: ['all'],
  shortNames: ['vci'],
  description: 'A virtual cluster that users can create kubeconfigs for.',
  grantsAccess: true,
  schema: { spec, status },
  table: { resource: resource.resource, partitions: () => [], activity: false },
  columns,
  selectableFields: [],
  strategy,
}
