/** Tells what the fields of an access key mean. */
import { DISABLED_REASON } from '../../../../lib/keys/ownedaccesskey.texts.ts'
import type { AccessKey } from '../../../core/src/objects.ts'

/** Reports whether a request with the key is accepted, as far as its state says. */
export const isActive = ({ status }: AccessKey): boolean => status?.phase === 'Active'

/** Returns the value of an open rotation that decides how it goes on: the new one that waits, or the old one that ends. */
export const openRotation = ({ status }: AccessKey): 'Pending' | 'Retiring' | undefined => {
  const states = status?.values?.map(({ state }) => state) ?? []
  return (['Pending', 'Retiring'] as const).find((state) => states.includes(state))
}

/** Returns why somebody disabled the key, if they have said so. */
export const disabledReason = ({ metadata, spec }: AccessKey): string | undefined =>
  spec.disabled ? metadata.annotations?.[DISABLED_REASON] : undefined

/** Returns the words for the state: of the key itself, and of a rotation. */
export function stateWords(key: AccessKey): string[] {
  const rotation = openRotation(key)
  return [
    key.status?.phase ?? 'Unknown',
    ...(rotation === 'Pending' ? ['Rotation pending'] : []),
    ...(rotation === 'Retiring' ? ['Old value still works'] : []),
  ]
}
