/** Reads from the values of a key how far its rotation is, so that a page knows it also after a reload, or in another tab. */
import type { AccessKey, KeyValue } from '../../../../../core/src/objects.ts'

export interface Rotation {
  /**
   * `make`: no rotation is open. `use`: the new value waits for its first use. `overlap`: it was used, and the old one still
   * works.
   */
  step: 'make' | 'use' | 'overlap'
  /** The value that an open rotation has made. */
  fresh?: KeyValue
  /** The value that an open rotation ends. A rotation may have none, because the value was reported as leaked. */
  old?: KeyValue
}

/** Returns the values of the key. One that was never rotated has the value that it was made with. */
export function valuesOf({ metadata, status }: AccessKey): readonly KeyValue[] {
  if (status?.values) return status.values
  const { lastActivity, hint } = status ?? {}
  const known = { ...(hint && { hint }), ...(lastActivity && { lastActivity }) }
  return [{ state: 'Current', made: metadata.creationTimestamp, ...known }]
}

export function rotationOf(values: readonly KeyValue[]): Rotation {
  const inState = (state: KeyValue['state']) => values.find((one) => one.state === state)
  const current = inState('Current')
  const pending = inState('Pending')
  if (pending) return { step: 'use', fresh: pending, ...(current && { old: current }) }
  const retiring = inState('Retiring')
  if (retiring) return { step: 'overlap', old: retiring, ...(current && { fresh: current }) }
  return { step: 'make' }
}

/** The ways in which a key cannot be rotated, in words. */
export function whyNot({ status }: AccessKey): string | undefined {
  if (status?.phase === 'Expired') return 'An expired key cannot be rotated. Make a new key.'
  if (status?.phase === 'Unused') return 'Nobody used the key for too long, so it has ended for good. Make a new key.'
  if (status?.phase === 'Terminating') return 'The key is being deleted, so it cannot be rotated.'
  return undefined
}
