/** Collects the events of a key's life that its object tells, the latest first. */
import type { AccessKey } from '../../../../core/src/objects.ts'
import { valuesOf } from './rotation/rotation.ts'

export interface HistoryEvent {
  at: string
  words: string
}

/** Returns the events up to now. Times that cannot be read are left out. */
export function historyOf(key: AccessKey, now: Date): HistoryEvent[] {
  const { metadata, status = {} } = key
  const pending = valuesOf(key).find(({ state }) => state === 'Pending')
  const events: [string | undefined, string][] = [
    [metadata.deletionTimestamp, 'Deletion was requested'],
    [status.expirationTimestamp, 'Expired'],
    [status.lastActivity, 'Used last'],
    [pending?.made, 'A new value was made'],
    [status.lastRotation, 'The current value was made'],
    [metadata.creationTimestamp, 'Created'],
  ]
  return events
    .flatMap(([at, words]) => (at !== undefined && Date.parse(at) <= now.getTime() ? [{ at, words }] : []))
    .sort((a, b) => Date.parse(b.at) - Date.parse(a.at))
}
