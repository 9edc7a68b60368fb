/**
 * Limits what may be done to a key that an exchange made, and what a workload may do with such a key. Otherwise a job
 * could leave behind access that does not end with the trust it came through.
 */
import type { UserInfo } from './user.ts'

/** The type of keys with which people sign in. All other exchanged keys belong to workloads. */
export const LOGIN = 'Login'

const isWorkload = ({ federation, key }: UserInfo): boolean => federation !== undefined && key.type !== LOGIN

/** Returns why the user may not create access keys (403), or undefined. This applies to system:masters too. */
export const forbiddenToWorkload = (user: UserInfo): string | undefined =>
  isWorkload(user)
    ? 'the access key used comes from an exchanged ID token and may not create access keys: exchange another ID token instead'
    : undefined

/**
 * Returns why the user may not change more of a key than `spec.disabled` (403), or undefined. This applies to
 * system:masters too.
 */
export function forbiddenBeyondDisabling(user: UserInfo, isExchanged: boolean): string | undefined {
  if (isExchanged) return 'an access key that comes from an exchanged ID token can only be disabled or deleted'
  return isWorkload(user)
    ? 'the access key used comes from an exchanged ID token and may only disable or delete access keys'
    : undefined
}
