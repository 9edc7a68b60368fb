/** Defines the columns of `kubectl get ownedaccesskeys`. */
import { humanDuration } from '../../../meta/encoding/time.ts'
import type { Column } from '../../../registry/kind.ts'

/** Returns the time until a timestamp: `6d`, `expired`, or `never`. */
function timeLeft(at: unknown, now: Date): string {
  if (typeof at !== 'string') return 'never'
  const seconds = Math.floor((Date.parse(at) - now.getTime()) / 1000)
  return seconds <= 0 ? 'expired' : humanDuration(seconds)
}

export const columns: readonly Column[] = [
  {
    name: 'Display Name',
    type: 'string',
    description: 'Name shown in the UI.',
    value: ({ spec }) => spec?.displayName,
  },
  { name: 'Owner', type: 'string', description: 'Owner of the key.', value: ({ status }) => status?.owner },
  {
    name: 'Type',
    type: 'string',
    description: 'Type of the key, which says who manages it.',
    value: ({ spec }) => spec?.type,
  },
  {
    name: 'Disabled',
    type: 'boolean',
    description: 'Whether the key is disabled.',
    value: ({ spec }) => spec?.disabled ?? false,
  },
  {
    name: 'Last Activity',
    type: 'date',
    description: 'Time since the key was last used.',
    value: ({ status }) => status?.lastActivity,
  },
  {
    name: 'Expires',
    type: 'string',
    description: 'Time until the key expires.',
    value: ({ status }, now) => timeLeft(status?.expirationTimestamp, now),
  },
  {
    name: 'Phase',
    type: 'string',
    description: 'Active, Disabled, Expired or Terminating.',
    priority: 1,
    value: ({ status }) => status?.phase,
  },
  {
    name: 'Rotated',
    type: 'date',
    description: 'Time since the key got its current value, if that is not the first one.',
    priority: 1,
    value: ({ status }) => status?.lastRotation,
  },
  {
    name: 'Made With',
    type: 'string',
    description: 'Access key that made the key, if you may know it.',
    priority: 1,
    value: ({ status }) => {
      const { name, uid } = (status?.madeWith ?? {}) as { name?: string; uid?: string }
      return name ?? uid
    },
  },
  {
    name: 'Description',
    type: 'string',
    description: 'Purpose of the key.',
    priority: 1,
    value: ({ spec }) => spec?.description,
  },
]
