/**
 * Authenticates bearer tokens. Only access keys are accepted: the tokens that this service signs are for other servers.
 */

import { isWithinCIDRs } from '../../access/users/sourcecidrs.ts'
import type { PresentedCredential, UserInfo } from '../../access/users/user.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import { isWellFormed } from '../credential/accesskey.ts'
import { type Credential, credentialUser } from '../credential/credential.ts'
import { REQUEST_SECONDS } from '../credential/keystatus.ts'
import type { KeyHash } from '../credential/pepper.ts'
import type { SignalKind } from '../credential/signals.ts'
import { judge, type KeyName } from '../values/judge.ts'
import { keyWarnings } from './keywarnings.ts'
import {
  type LivingValue,
  type PresentedValue,
  type SignalledKey,
  type Source,
  secondsOf,
  signalOf,
  type UseDeps,
} from './uses.ts'

export interface AuthenticationDeps extends UseDeps {
  /** See `Peppers`. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** Writes a signal, once. Never rejects. */
  signal(item: CompanionItem): Promise<void>
}

export interface DeadKey {
  /** May be shown to the holder of the key. */
  dead: string
  key: KeyName
}

export interface LivingKey {
  user: UserInfo
  credential: PresentedCredential
  /** For the holder of the key. */
  warnings: readonly string[]
  presented: PresentedValue
}

export type Authentication =
  | LivingKey
  /** A known but invalid key. */
  | DeadKey
  /** A valid key that may not be used from this address. The text may be shown. `holder` is the user that it would authenticate. */
  | { outside: string; key: KeyName; holder: UserInfo }
  /** An unknown key. */
  | { unknown: true }

/**
 * Authenticates the token of a request from `source`. Without a source, a key that is limited to addresses is refused.
 * Rejects only on internal errors: of the store, the peppers or a stored item.
 */
export async function authenticate(
  token: string | undefined,
  deps: AuthenticationDeps,
  source?: Source,
): Promise<Authentication> {
  if (token === undefined || !isWellFormed(token)) return { unknown: true }
  const found = await deps.readCredential(await deps.hashes(token))
  if (found === undefined) return { unknown: true }
  const { hash, item } = found
  const judged = await judge(hash, item, deps)
  const signal = (kind: SignalKind, key: SignalledKey) => signalOf(kind, key, { hash, at: secondsOf(deps), source })
  if ('unknown' in judged) return judged
  if ('dead' in judged) {
    const { dead, key, ended } = judged
    if (ended) await deps.signal(signal('reused', key))
    return { dead, key }
  }
  const { credential, until, expires, lastEnd } = judged
  const user = credentialUser(credential, { expires, lastEnd })
  const outside = sourceRefusal(credential, source)
  if (outside !== undefined) {
    // Without a source it is a question about the key, such as a TokenReview, and no use.
    if (source) await deps.signal(signal('source-refused', credential))
    const { name, uid } = credential
    return { outside, key: { name, uid, user: credential.user }, holder: user }
  }
  return {
    user,
    credential: presented(hash, judged),
    warnings: keyWarnings({ ...credential, expires, until }, secondsOf(deps)),
    presented: { hash, judged, source },
  }
}

/** Returns why the key may not be used from the source, or undefined. */
export function sourceRefusal({ name, sourceCIDRs }: Credential, source: Source | undefined): string | undefined {
  if (sourceCIDRs === undefined || (source && isWithinCIDRs(source.ip, sourceCIDRs))) return undefined
  return `access key ${JSON.stringify(name)} may not be used from ${source?.ip || 'an unknown address'}`
}

/**
 * Returns what the writes of the request depend on. The old value may end during the request only if its overlap is shorter
 * than a request: then they depend on the new value, too, being unused.
 */
function presented({ version, hash }: KeyHash, { credential, state, until }: LivingValue): PresentedCredential {
  const { created, signedIn, successor, overlap = 0 } = credential
  const isShort = state === 'Current' && successor !== undefined && overlap < REQUEST_SECONDS
  return { version, hash, created, ...defined({ signedIn, until }), ...(isShort && { successor }) }
}
