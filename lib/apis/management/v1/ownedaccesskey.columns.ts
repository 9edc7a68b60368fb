/** Defines the columns of `kubectl get ownedaccesskeys`. */
import { humanDuration } from '../../../meta/encoding/time.ts'
import { column, wide } from '../../../registry/column.ts'
import type { Column } from '../../../registry/kind.ts'
import { displayName, otherTexts } from './ownedaccesskey.texts.ts'

/** Returns the time until a timestamp: `6d`, `expired`, or `never`. */
function timeLeft(at: unknown, now: Date): string {
  if (typeof at !== 'string') return 'never'
  const seconds = Math.floor((Date.parse(at) - now.getTime()) / 1000)
  return seconds <= 0 ? 'expired' : humanDuration(seconds)
}

export const columns: readonly Column[] = [
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
  column('Phase', 'status.phase', 'Active, Leaked, Disabled, Expired or Terminating.', wide),
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
  ...otherTexts.map(({ name, title, description, column: about = description }) =>
    column(title, `spec.${name}`, about, wide),
  ),
]
