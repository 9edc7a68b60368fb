/**
 * Computes the line of a new access key: the uids of the keys that made it. It is stored with the key, so that it survives
 * the deletion of those keys.
 */
import type { UserInfo } from '../authorization/users/user.ts'

/** The most uids of a line. Of a longer one, the first and the nearest are kept. */
export const MAX_ANCESTORS = 32

export interface Line {
  /** The uids of the keys that made a key, the first of the line first. Never empty. */
  ancestors: readonly string[]
  /** The name that the last of them had. */
  maker: string
}

/** Returns the line of a key that the user creates. Empty if the request presents no access key. */
export function lineOf({ key, ancestors = [] }: Pick<UserInfo, 'key' | 'ancestors'>): Line | Record<never, never> {
  if (key.uid === '') return {}
  const whole = [...ancestors, key.uid]
  const [first = key.uid, ...rest] = whole
  return {
    ancestors: whole.length <= MAX_ANCESTORS ? whole : [first, ...rest.slice(1 - MAX_ANCESTORS)],
    maker: key.name,
  }
}
