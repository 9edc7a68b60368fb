/** VirtualClusterInstance: the registry of virtual clusters whose kube configs can be fetched. */

import { isMaster, MASTERS } from '../../../authorization/identity.ts'
import { forbiddenInstanceChange, type InstanceSpec, mayAccess } from '../../../authorization/instances.ts'
import { forbiddenResource } from '../../../meta/errors.ts'
import type { Column, StoredKind, Strategy } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'
import { group, version } from './group.ts'
import type { Services } from './services.ts'
import { type Spec, spec, status } from './virtualclusterinstance.schema.ts'

const plural = 'virtualclusterinstances'

const specOf = ({ object }: Pick<Stored, 'object'>): Spec => (object.spec ?? {}) as Spec

const columns: readonly Column[] = [
  {
    name: 'Phase',
    type: 'string',
    description: 'Where the instance is in its life.',
    value: ({ status }) => status?.phase,
  },
  {
    name: 'Cluster',
    type: 'string',
    description: 'The connected cluster that it runs in.',
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
    description: 'Who owns the instance.',
    priority: 1,
    value: ({ spec }) => {
      const { user, team } = (spec as Spec | undefined)?.owner ?? {}
      return user || (team && `team:${team}`)
    },
  },
  {
    name: 'Display Name',
    type: 'string',
    description: 'Name shown in the UI.',
    priority: 1,
    value: ({ spec }) => spec?.displayName,
  },
]

const strategy: Strategy = {
  mayCreate: (user) =>
    isMaster(user)
      ? { type: 'allowed', rule: MASTERS }
      : { type: 'denied', reason: 'only system:masters may create virtual cluster instances' },
  access(stored, verb, subresource, user) {
    const instance = specOf(stored) as InstanceSpec
    const decision = mayAccess(user, instance, verb, subresource)
    if (decision.allowed) return { type: 'allowed', rule: decision.reason }
    return mayAccess(user, instance, 'get', '').allowed
      ? { type: 'denied', reason: decision.reason }
      : { type: 'hidden' }
  },
  authorize(draft, old, { user }) {
    if (!old) return
    const reason = forbiddenInstanceChange(user, specOf(old), draft.object.spec ?? {})
    if (reason) throw forbiddenResource({ group, resource: plural }, draft.object.metadata.name ?? '', reason)
  },
}

export const VirtualClusterInstance: StoredKind<Services> = {
  archetype: 'stored',
  group,
  version,
  kind: 'VirtualClusterInstance',
  plural,
  singular: 'virtualclusterinstance',
  shortNames: ['vci'],
  scope: 'Namespaced',
  description: 'A virtual cluster that kube configs can be fetched for.',
  schema: { spec, status },
  table: { resource: plural, partitions: () => [], activity: false },
  columns,
  fields: {},
  strategy: () => strategy,
}
