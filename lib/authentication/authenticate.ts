/**
 * Authenticates bearer tokens. Only access keys are accepted: the tokens that this service signs are for other servers.
 */

import type { PresentedCredential, UserInfo } from '../authorization/users/user.ts'
import type { JsonObject } from '../meta/types.ts'
import { isWellFormed } from './accesskey.ts'
import { activityAttributes, type Credential, credentialUser, readCredential } from './credential.ts'
import { findClosedGate } from './gates.ts'
import { INVALID_KEY_REASONS, isActivityDue, keyStatus, type LifeLimits } from './keystatus.ts'
import { keyWarnings } from './keywarnings.ts'
import type { KeyHash } from './pepper.ts'

export interface AuthenticationDeps extends LifeLimits {
  /** See `Peppers`. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** Returns the first credential item stored under one of these hashes, with that hash. The read is consistent. */
  readCredential(hashes: readonly KeyHash[]): Promise<{ hash: KeyHash; item: JsonObject } | undefined>
  /** Reads the gates of an exchanged key: one consistent call. */
  readGates: Parameters<typeof findClosedGate>[1]
  /** Unix milliseconds. */
  now(): number
  /**
   * Sets attributes of the credential item if it still belongs to this key and generation, and stores the last activity
   * (Unix seconds) beside the key. Never recreates a deleted item.
   */
  touch(
    hash: KeyHash,
    key: { name: string; uid: string; generation: number | undefined },
    lastActivity: number,
    attributes: JsonObject,
  ): Promise<void>
  /** Receives the error of a failed touch, which does not fail the request. */
  touchFailed(error: unknown): void
}

export type Authentication =
  /**
   * A valid key, with warnings for its holder. Call `touch` after the request is authorized: it updates the last activity
   * when due, and never rejects.
   */
  | { user: UserInfo; credential: PresentedCredential; warnings: readonly string[]; touch: () => Promise<void> }
  /** A known but invalid key. The reason may be shown to its holder. */
  | { dead: string; key: { name: string; uid: string; user: string } }
  /** An unknown key. */
  | { unknown: true }

/** Authenticates the token. Rejects only on internal errors: of the store, the peppers or a stored item. */
export async function authenticate(token: string | undefined, deps: AuthenticationDeps): Promise<Authentication> {
  if (token === undefined || !isWellFormed(token)) return { unknown: true }
  const found = await deps.readCredential(await deps.hashes(token))
  if (found === undefined) return { unknown: true }
  const credential = readCredential(found.item)
  const now = Math.floor(deps.now() / 1000)
  const { state, expires } = keyStatus(credential, now, deps)
  const { name, uid, user, federation } = credential
  const key = { name, uid, user }
  if (state !== 'Active') return { dead: INVALID_KEY_REASONS[state], key }
  const closed = federation && (await findClosedGate(federation, deps.readGates))
  if (closed !== undefined) return { dead: closed, key }
  const { hash } = found
  return {
    user: credentialUser(credential, expires),
    credential: { version: hash.version, hash: hash.hash, created: credential.created },
    warnings: keyWarnings({ ...credential, expires }, now),
    touch: () => touch(hash, credential, now, deps),
  }
}

async function touch(hash: KeyHash, credential: Credential, now: number, deps: AuthenticationDeps): Promise<void> {
  if (!isActivityDue(credential, now, deps)) return
  try {
    const { name, uid, generation } = credential
    await deps.touch(hash, { name, uid, generation }, now, activityAttributes(credential, now, deps))
  } catch (error) {
    deps.touchFailed(error)
  }
}
