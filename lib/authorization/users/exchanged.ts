/**
 * Limits what may be done to a key that an exchange made, and what a workload may do with such a key. Otherwise a job
 * could leave behind access that does not end with the trust it came through.
 */
import type { UserInfo } from './user.ts'

/** The type of keys with which people sign in. All other exchanged keys belong to workloads. */
export const LOGIN = 'Login'

const isWorkload = ({ federation, key }: UserInfo): boolean => federation !== undefined && key.type !== LOGIN

/**
 * Returns why the user may not do `what` (403), such as `create access keys`, or undefined. This applies to system:masters
 * too.
 */
export const forbiddenToWorkload = (user: UserInfo, what: string): string | undefined =>
  isWorkload(user)
    ? `the access key used comes from an exchanged ID token of a workload and may not ${what}`
    : undefined

/**
 * Returns why the user may not change more of a key than `spec.disabled` (403), or undefined. This applies to
 * system:masters too.
 */
export function forbiddenBeyondDisabling(user: UserInfo, isExchanged: boolean): string | undefined {
  if (isExchanged) return 'an access key that comes from an exchanged ID token can only be disabled or deleted'
  return forbiddenToWorkload(user, 'change access keys, only disable or delete them')
}
