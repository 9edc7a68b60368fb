/**
 * Computes the makers of a new access key or trust: the uids of the keys that made it. They are stored with it, so that they survive
 * the deletion of those keys.
 */
import type { UserInfo } from '../../access/users/user.ts'
import type { MAKERS } from './keyinternal.ts'
import type { RecordOf } from './strictrecord.ts'

/** The most makers of a key. A key with so many makes no keys, so no maker is ever forgotten. */
export const MAX_MAKERS = 32
/** From this many on, creating a key has a warning about the limit. */
const WARNED_MAKERS = 24

export interface Makers extends RecordOf<Record<never, never>, typeof MAKERS> {}

type Maker = Pick<UserInfo, 'key' | 'makers'>

/** Returns the makers of a key that the user creates. None if the request presents no access key. */
export const makersOf = ({ key, makers = [] }: Maker): Makers =>
  key.uid === '' ? {} : { makers: [...makers, key.uid], maker: key.name }

/** Reports whether the key `uid` is the maker, or one of the makers with `descendants`. */
export const isMadeWith = ({ makers = [] }: Makers, uid: string, descendants: boolean): boolean =>
  descendants ? makers.includes(uid) : makers.at(-1) === uid

const ADVICE = 'rotate a key instead, or create this one with a key nearer to the beginning of the line'

/** Returns why the user may not create a key, which would have too many makers (403), or undefined. */
export const tooManyMakers = ({ key, makers = [] }: Maker): string | undefined =>
  key.uid !== '' && makers.length >= MAX_MAKERS
    ? `the access key used descends from ${makers.length} others, and the limit is ${MAX_MAKERS}: ${ADVICE}`
    : undefined

/** Returns the warning that a key that the user creates has nearly too many makers, or nothing. */
export function makerWarnings({ key, makers = [] }: Maker): string[] {
  const count = makers.length + 1
  if (key.uid === '' || count < WARNED_MAKERS) return []
  return [`the new access key descends from ${count} others, and the limit is ${MAX_MAKERS}: ${ADVICE}`]
}
