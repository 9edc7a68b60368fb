import { evaluateHere } from '../access/scopes/evaluate.ts'
import { hasSelfRotate } from '../access/scopes/roles.ts'
import { isMaster, MASTERS, ownsKey } from '../access/users/identity.ts'
import { forbiddenBeyondDisabling, forbiddenToWorkload } from '../access/users/outliving.ts'
import { maySeeKey, visiblePartitions } from '../access/users/privilege.ts'
import type { UserInfo } from '../access/users/user.ts'
import { humanDuration } from '../engine/meta/encoding/time.ts'
import { own } from '../engine/meta/value/walk.ts'
import { column, wide } from '../engine/registry/column.ts'
import type { Column, StoredKind, Strategy } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import { CREATE, keyPlan } from './ownedaccesskey.plan.ts'
import { spec, status } from './ownedaccesskey.schema.ts'
import { endsOfValues, itemsToPresent, seenMaker, statusOf } from './ownedaccesskey.status.ts'
import { accessReviewRule, type SubresourceRule } from './ownedaccesskey.subresources.ts'
import { selectedPartitions, table } from './ownedaccesskey.table.ts'
import { displayName, otherTexts } from './ownedaccesskey.texts.ts'
import { isExchanged, isForTarget, type KeyIntent, ownerOf, toKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

/** Returns the time until a timestamp: `6d`, `expired`, or `never`. */
function timeLeft(at: unknown, now: Date): string {
  if (typeof at !== 'string') return 'never'
  const seconds = Math.floor((Date.parse(at) - now.getTime()) / 1000)
  return seconds <= 0 ? 'expired' : humanDuration(seconds)
}

const columns: readonly Column[] = [
  column('Display Name', 'spec.displayName', displayName.description),
  column('Owner', 'status.owner', 'Owner of the key.'),
  column('Type', 'spec.type', 'Type of the key, which says who manages it.'),
  column('Disabled', 'spec.disabled', 'Whether the key is disabled.', { type: 'boolean', absent: false }),
  column('Last Activity', 'status.lastActivity', 'Time since the key was last used.', { type: 'date' }),
  {
    name: 'Expires',
    type: 'string',
    description: 'Time until the key expires.',
    value: ({ status }, now) => timeLeft(status?.expirationTimestamp, now),
  },
  column('Phase', 'status.phase', 'Active, Leaked, Disabled, Unused, Expired or Terminating.', wide),
  column('Rotated', 'status.lastRotation', 'Time since the key got its current value, if that is not the first one.', {
    type: 'date',
    ...wide,
  }),
  {
    name: 'Made With',
    type: 'string',
    description: 'Access key that made the key, if you may know it.',
    ...wide,
    value: ({ status }) => {
      const { name, uid } = (status?.madeWith ?? {}) as { name?: string; uid?: string }
      return name ?? uid
    },
  },
  {
    name: 'Targets',
    type: 'string',
    description: 'Clusters of the tokens for which an exchange made the key.',
    ...wide,
    value: ({ status }) => (status?.targets as readonly string[] | undefined)?.join(','),
  },
  ...otherTexts.map(({ name, title, description, column: about = description }) =>
    column(title, `spec.${name}`, about, wide),
  ),
]

/** The rules of the subresources. Without one, the rules are those of the key. */
const subresources: Readonly<Record<string, SubresourceRule>> = {
  [KINDS.OwnedAccessKeyRotation.subresource]: {
    forbids: (user, key) => (isForTarget(key) ? undefined : forbiddenBeyondDisabling(user, isExchanged(key))),
  },
  [KINDS.OwnedAccessKeyAccessReview.subresource]: accessReviewRule,
  [KINDS.OwnedAccessKeyUsage.subresource]: accessReviewRule,
  [KINDS.OwnedAccessKeyHistory.subresource]: accessReviewRule,
}

function strategy(services: Services): Strategy<KeyIntent> {
  const { scopes } = services
  /**
   * Returns whether the scopes restrict an administrator to their own keys, and any user to the presented key. Other users
   * never see more than their own keys.
   */
  const limitsOf = (
    user: UserInfo,
    request: { verb: string; subresource?: string; name?: string },
  ): { own?: true; self?: true } => {
    if (!isMaster(user) && !user.chain.some(hasSelfRotate)) return {}
    const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, request, scopes)
    return decision.allowed ? decision : {}
  }
  return {
    access(stored, verb, subresource, user) {
      if (!stored) {
        const reason = forbiddenToWorkload(user, CREATE)
        return reason === undefined ? { type: 'allowed' } : { type: 'denied', reason }
      }
      const key = toKey(stored)
      const { name = '', uid } = stored.object.metadata
      const isOfCollection = ['list', 'watch', 'deletecollection'].includes(verb)
      const { as, forbids } = own(subresources, subresource) ?? {}
      const asked = as ? { verb: as, name } : { verb, subresource, ...(!isOfCollection && { name }) }
      const limits = limitsOf(user, asked)
      if (!maySeeKey(user, key, limits.own) || (limits.self && uid !== user.key.uid)) return { type: 'hidden' }
      const reason = forbids?.(user, stored, services)
      if (reason !== undefined) return { type: 'denied', reason }
      const rule = ownsKey(user, key) ? 'own access key' : MASTERS
      if (subresource !== 'status' || verb === 'get' || isMaster(user)) return { type: 'allowed', rule }
      return { type: 'denied', reason: 'only system:masters may write the status of access keys' }
    },
    partitions: (user, verb) => visiblePartitions(user, limitsOf(user, { verb }).own),
    plan: keyPlan(services),
    itemsToPresent,
    computedFields: {
      'status.owner': ownerOf,
      'status.hint': endsOfValues,
      'status.madeWith.name': (stored, user) => seenMaker(stored, user, scopes)?.name,
      'status.madeWith.uid': (stored, user) => seenMaker(stored, user, scopes)?.uid,
    },
    status: (stored, reader, items) => statusOf(services, stored, reader, items),
  }
}

export const OwnedAccessKey: StoredKind<Services, KeyIntent> = {
  ...KINDS.OwnedAccessKey,
  categories: ['all'],
  description: 'A bearer token for non-interactive use, such as CI jobs.',
  grantsAccess: true,
  schema: { spec, status },
  isCredential: true,
  table,
  columns,
  selectableFields: [
    'spec.user',
    'spec.team',
    'spec.subject',
    'spec.type',
    'spec.disabled',
    'status.owner',
    'status.hint',
    'status.madeWith.name',
    'status.madeWith.uid',
  ],
  selectedPartitions,
  strategy,
}
