/** What `kubectl get ownedaccesskeys` shows. */
import { humanDuration } from '../../../meta/encoding/time.ts'
import type { Column } from '../../../registry/kind.ts'

/** Time left until a moment: `6d`, `expired`, or `never`. */
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
  { name: 'Owner', type: 'string', description: 'Who owns the key.', value: ({ status }) => status?.owner },
  { name: 'Type', type: 'string', description: 'Who manages the key.', value: ({ spec }) => spec?.type },
  {
    name: 'Disabled',
    type: 'boolean',
    description: 'Whether the key is refused.',
    value: ({ spec }) => spec?.disabled ?? false,
  },
  {
    name: 'Last Activity',
    type: 'date',
    description: 'Time since the key was used.',
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
    description: 'Whether the key gives access.',
    priority: 1,
    value: ({ status }) => status?.phase,
  },
  {
    name: 'Description',
    type: 'string',
    description: 'What the key is for.',
    priority: 1,
    value: ({ spec }) => spec?.description,
  },
]
