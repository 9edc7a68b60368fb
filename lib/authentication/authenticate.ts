/** From a bearer token to the user of a request. Access keys only: the tokens that this service signs are for other servers. */

import type { PresentedCredential, UserInfo } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import { isWellFormed } from './accesskey.ts'
import { activityAttributes, type Credential, credentialUser, readCredential } from './credential.ts'
import { activityDue, INVALID_KEY_REASONS, keyStatus, type LifeLimits } from './keystatus.ts'
import type { KeyHash } from './pepper.ts'

export interface AuthenticationDeps extends LifeLimits {
  /** See `Peppers`. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** The first credential item that exists under these hashes, consistently read, with the hash that it lies under. */
  readCredential(hashes: readonly KeyHash[]): Promise<{ hash: KeyHash; item: JsonObject } | undefined>
  /** Unix milliseconds. */
  now(): number
  /**
   * Sets attributes of the credential item, if it is still of this key and generation, and notes the last activity (Unix seconds)
   * beside the key. Never creates what is gone.
   */
  touch(
    hash: KeyHash,
    key: { name: string; uid: string; generation: number | undefined },
    lastActivity: number,
    attributes: JsonObject,
  ): Promise<void>
  /** Told of a touch that failed; it fails no request. */
  touchFailed(error: unknown): void
}

export type Authentication =
  /** `touch` moves the last activity if that is due; to be called after the request was allowed. It never rejects. */
  | { user: UserInfo; credential: PresentedCredential; touch: () => Promise<void> }
  /** A known key that may not be used; the reason may be told to its holder. */
  | { dead: string; key: { name: string; uid: string; user: string } }
  /** Nobody's key. */
  | { unknown: true }

/** Rejects only when something is broken: the store, the peppers, an item. */
export async function authenticate(token: string | undefined, deps: AuthenticationDeps): Promise<Authentication> {
  if (token === undefined || !isWellFormed(token)) return { unknown: true }
  const found = await deps.readCredential(await deps.hashes(token))
  if (found === undefined) return { unknown: true }
  const credential = readCredential(found.item)
  const now = Math.floor(deps.now() / 1000)
  const { state, expires } = keyStatus(credential, now, deps)
  if (state !== 'Active') {
    const { name, uid, user } = credential
    return { dead: INVALID_KEY_REASONS[state], key: { name, uid, user } }
  }
  const { hash } = found
  return {
    user: credentialUser(credential, expires),
    credential: { version: hash.version, hash: hash.hash, created: credential.created },
    touch: () => touch(hash, credential, now, deps),
  }
}

async function touch(hash: KeyHash, credential: Credential, now: number, deps: AuthenticationDeps): Promise<void> {
  if (!activityDue(credential, now, deps)) return
  try {
    const { name, uid, generation } = credential
    await deps.touch(hash, { name, uid, generation }, now, activityAttributes(credential, now, deps))
  } catch (error) {
    deps.touchFailed(error)
  }
}
