/** Tells how long access keys live, and which come from an exchange. Times that cannot be read count as unknown. */
import { DAY_MS } from '../../../lib/engine/meta/value/durations.ts'
import type { AccessKey } from './objects.ts'

/** Returns a time of an object in milliseconds, or undefined if there is none. */
export function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '')
  return Number.isNaN(time) ? undefined : time
}

/** Returns when the key was last used or, if it never was, when it was made. */
export const lastUse = ({ metadata, status }: AccessKey): number | undefined =>
  timeOf(status?.lastActivity) ?? timeOf(metadata.creationTimestamp)

/** Returns for how long the key was made, in milliseconds: since its last use if each use extends it. Undefined without an end. */
export function lifeOf(key: AccessKey): number | undefined {
  const end = timeOf(key.status?.expirationTimestamp)
  const start = key.spec.ttlAfterLastActivity ? lastUse(key) : timeOf(key.metadata.creationTimestamp)
  return end === undefined || start === undefined ? undefined : end - start
}

/**
 * Reports whether an exchange of an ID token made the key. Such keys live for a day at most. The life is asked too, because whoever
 * makes a key may claim any controller, and a lasting key must not pass for a passing one.
 */
export function isExchanged(key: AccessKey): boolean {
  const controller = key.metadata.ownerReferences?.find((one) => one.controller === true)
  return controller?.kind === 'FederatedIdentityCredential' && !key.spec.ttlAfterLastActivity && livesADay(key)
}

/** Reports whether the key was made for a day or less. */
export const livesADay = (key: AccessKey): boolean => (lifeOf(key) ?? Number.POSITIVE_INFINITY) <= DAY_MS
