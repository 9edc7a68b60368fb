/**
 * Computes the line of a new access key: the uids of the keys that made it. It is stored with the key, so that it survives
 * the deletion of those keys.
 */
import type { UserInfo } from '../authorization/users/user.ts'

/** The most uids of a line. A key with so many makes no keys, so nothing of a line is ever forgotten. */
export const MAX_ANCESTORS = 32
/** From this many on, creating a key has a warning about the limit. */
const WARNED_ANCESTORS = 24

interface Line {
  /** The uids of the keys that made a key, the first of the line first. Never empty. */
  ancestors: readonly string[]
  /** The name that the last of them had. */
  maker: string
}

type Maker = Pick<UserInfo, 'key' | 'ancestors'>

/** Returns the line of a key that the user creates. Empty if the request presents no access key. */
export const lineOf = ({ key, ancestors = [] }: Maker): Line | Record<never, never> =>
  key.uid === '' ? {} : { ancestors: [...ancestors, key.uid], maker: key.name }

const ADVICE = 'rotate a key instead, or create this one with a key nearer to the beginning of the line'

/** Returns why the user may not create a key, whose line would be too long to store (403), or undefined. */
export const fullLine = ({ key, ancestors = [] }: Maker): string | undefined =>
  key.uid !== '' && ancestors.length >= MAX_ANCESTORS
    ? `the access key used descends from ${ancestors.length} others, and the limit is ${MAX_ANCESTORS}: ${ADVICE}`
    : undefined

/** Returns the warning that the line of a key that the user creates is nearly full, or nothing. */
export function lineWarnings({ key, ancestors = [] }: Maker): string[] {
  const count = ancestors.length + 1
  if (key.uid === '' || count < WARNED_ANCESTORS) return []
  return [`the new access key descends from ${count} others, and the limit is ${MAX_ANCESTORS}: ${ADVICE}`]
}
