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

export type Progress = 'made' | 'used' | 'ended' | 'discarded'

/**
 * Returns what has happened to a rotation between two readings of a key, or undefined if nothing has or if it cannot be told. That
 * a value was used is claimed only if the value itself has become the current one.
 */
export function progressOf(before: readonly KeyValue[], after: readonly KeyValue[]): Progress | undefined {
  const was = rotationOf(before)
  const is = rotationOf(after)
  if (was.step === 'use') {
    if (is.step === 'use') return is.fresh?.made === was.fresh?.made ? undefined : 'made'
    const current = after.find(({ state }) => state === 'Current')
    const isFresh = isSame(current, was.fresh)
    const isOld = isSame(current, was.old)
    if (isFresh === isOld) return undefined
    return isFresh ? 'used' : 'discarded'
  }
  if (is.step === 'use') return 'made'
  return was.step === 'overlap' && is.step === 'make' ? 'ended' : undefined
}

/** Compares hints only where both have one: the server knows that of a first value only during a rotation. */
const isSame = (one: KeyValue | undefined, other: KeyValue | undefined): boolean =>
  one?.made !== undefined && one.made === other?.made && (!one.hint || !other.hint || one.hint === other.hint)

type Source = NonNullable<NonNullable<AccessKey['status']>['lastSources']>[number]

/** Returns from where a value was used last. The server records sources of keys, so it is known if only this value was used then. */
export function sourceOf(value: KeyValue, { status }: AccessKey): Source | undefined {
  const users = status?.values?.filter(({ lastActivity }) => lastActivity === value.lastActivity) ?? []
  const found = status?.lastSources?.filter(({ lastSeen }) => lastSeen === value.lastActivity) ?? []
  return users.length === 1 && found.length === 1 ? found[0] : undefined
}

/** The ways in which a key cannot be rotated, in words. */
export function whyNot({ status }: AccessKey): string | undefined {
  if (status?.phase === 'Expired') return 'An expired key cannot be rotated. Make a new key.'
  if (status?.phase === 'Terminating') return 'The key is being deleted, so it cannot be rotated.'
  return undefined
}
