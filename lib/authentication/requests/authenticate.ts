/**
 * Authenticates bearer tokens. Only access keys are accepted: the tokens that this service signs are for other servers.
 */

import { isWithinCIDRs } from '../../authorization/users/sourcecidrs.ts'
import type { PresentedCredential, UserInfo } from '../../authorization/users/user.ts'
import { insufficientStorage, serviceUnavailable } from '../../meta/errors/status.ts'
import type { JsonObject, JsonValue } from '../../meta/types.ts'
import { defined } from '../../meta/value/defined.ts'
import { StorageError } from '../../storage/errors.ts'
import type { CompanionItem, TouchOutcome } from '../../storage/interface.ts'
import { isWellFormed } from '../accesskey.ts'
import { type Credential, credentialUser } from '../credential.ts'
import { activityAttributes, firstUseAttributes } from '../expiryindex.ts'
import { noticeAddress } from '../history/newaddress.ts'
import { isActivityDue, REQUEST_SECONDS } from '../keystatus.ts'
import { storedSources, withSource } from '../lastsources.ts'
import type { KeyHash } from '../pepper.ts'
import { type SignalKind, signalItem } from '../signals.ts'
import { type JudgeDeps, type Judgement, judge, type KeyName } from '../values/judge.ts'
import type { ValueState } from '../values/keyvalues.ts'
import { keyWarnings } from './keywarnings.ts'

/** A use of a key, which is written to its credential, and as its last activity beside the key. */
export interface Use {
  hash: KeyHash
  name: string
  uid: string
  /** Unix seconds. */
  at: number
  /** Attributes to set on the credential besides the last activity. */
  attributes: JsonObject
  /** Attributes of the credential as they were read. Nothing is written if one has changed. Undefined: absent. */
  same: Readonly<Record<string, JsonValue | undefined>>
  /** Attributes that the credential must not have. */
  lacks: readonly string[]
  /** What is noted beside the key together with the time. */
  noted?: JsonObject
  /** Side items to write in the same transaction. */
  also: readonly CompanionItem[]
}

export interface AuthenticationDeps extends JudgeDeps {
  /** See `Peppers`. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** Writes a use of the key. Never recreates a deleted item. */
  touch(use: Use): Promise<TouchOutcome>
  /** Writes a signal, once. Never rejects. */
  signal(item: CompanionItem): Promise<void>
  /** Whether uses record where they came from. Otherwise they remove what was recorded. */
  recordSources?: boolean
  /** Receives the error of a failed touch, which does not fail the request. */
  touchFailed(error: unknown): void
}

/** Where a request comes from, as the gateway says. */
export interface Source {
  ip: string
  userAgent?: string
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
  /** Which value of the key was presented; `until` when a retiring one ends, in unix seconds. */
  value: { state: ValueState; until?: number }
  /**
   * Records the first use of a pending value, from which on the old value ends. Call it after the request is authorized,
   * before it takes effect, also for a dry run. Does nothing for other values. Returns why the key no longer gives access,
   * or undefined. Throws 503 or 507 if the use could not be recorded: then the request must not be allowed.
   */
  confirm(): Promise<DeadKey | { unknown: true } | undefined>
  /**
   * Updates the last activity when due. Call it after the request is authorized. Never rejects. Does nothing for a pending
   * value: `confirm` records its use.
   */
  touch(): Promise<void>
}

export type Authentication =
  | LivingKey
  /** A known but invalid key. */
  | DeadKey
  /** A valid key that may not be used from this address. The text may be shown. `holder` is the user that it would authenticate. */
  | { outside: string; key: KeyName; holder: UserInfo }
  /** An unknown key. */
  | { unknown: true }

type Alive = Extract<Judgement, { credential: Credential }>

/** How often a first use is attempted while others change the key. */
const MAX_ATTEMPTS = 3

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
  const signal = (kind: SignalKind, key: { name: string; uid: string; value?: number }): CompanionItem =>
    signalOf(kind, key, { hash, at: secondsOf(deps), source })
  if ('unknown' in judged) return judged
  if ('dead' in judged) {
    const { dead, key, ended } = judged
    if (ended) await deps.signal(signal('reused', key))
    return { dead, key }
  }
  const { credential, state, until, expires, lastEnd } = judged
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
    value: { state, ...(until !== undefined && { until }) },
    confirm: () => confirm(hash, judged, deps, { signal, source }),
    touch: () => touch(hash, judged, deps, { signal, source }),
  }
}

type MakeSignal = (kind: SignalKind, key: { name: string; uid: string; value?: number }) => CompanionItem

/** The request that uses the key. */
interface Using {
  signal: MakeSignal
  source: Source | undefined
}

/**
 * Returns what a use writes: these attributes, these items and, if the deployment records sources, where the key was used from, with
 * an entry of its history if that is new.
 */
function writtenBy(
  source: Source | undefined,
  { attributes, also }: Pick<Use, 'attributes' | 'also'>,
  credential: Credential,
  at: number,
  { recordSources }: AuthenticationDeps,
): Pick<Use, 'attributes' | 'noted' | 'also'> {
  const { sources = [] } = credential
  const after = recordSources ? (source ? withSource(sources, source, at) : sources) : []
  const noticed = recordSources && source ? noticeAddress(credential, source, at) : undefined
  const noted = after.length > 0 || sources.length > 0 ? { sources: storedSources(after) } : undefined
  return {
    attributes: { ...attributes, ...noted, ...(noticed && { addresses: noticed.addresses }) },
    ...(noted && { noted }),
    also: [...also, ...(noticed ? [noticed.item] : [])],
  }
}

function signalOf(
  kind: SignalKind,
  { name, uid, value }: { name: string; uid: string; value?: number },
  { hash, at, source }: { hash: KeyHash; at: number; source: Source | undefined },
): CompanionItem {
  return signalItem({ kind, name, uid, at, ...(value !== undefined && { value }), ...source }, hash)
}

const secondsOf = ({ now }: Pick<AuthenticationDeps, 'now'>): number => Math.floor(now() / 1000)

/** Returns why the key may not be used from the source, or undefined. */
export function sourceRefusal({ name, sourceCIDRs }: Credential, source: Source | undefined): string | undefined {
  if (sourceCIDRs === undefined || (source && isWithinCIDRs(source.ip, sourceCIDRs))) return undefined
  return `access key ${JSON.stringify(name)} may not be used from ${source?.ip || 'an unknown address'}`
}

/**
 * Returns what the writes of the request depend on. The old value may end during the request only if its overlap is shorter
 * than a request: then they depend on the new value, too, being unused.
 */
function presented({ version, hash }: KeyHash, { credential, state, until }: Alive): PresentedCredential {
  const { created, signedIn, successor, overlap = 0 } = credential
  const isShort = state === 'Current' && successor !== undefined && overlap < REQUEST_SECONDS
  return { version, hash, created, ...defined({ signedIn, until }), ...(isShort && { successor }) }
}

/** Returns the condition that the item is still what was judged. */
const unchanged = ({ uid, generation, pending, until }: Credential): Use['same'] => ({
  uid,
  generation,
  pending,
  until,
})

async function confirm(
  hash: KeyHash,
  first: Alive,
  deps: AuthenticationDeps,
  { signal, source }: Using,
): Promise<DeadKey | { unknown: true } | undefined> {
  let judged: Judgement = first
  let cause: unknown
  for (let attempt = 0; ; attempt++) {
    if ('unknown' in judged) return judged
    if ('dead' in judged) return { dead: judged.dead, key: judged.key }
    const { credential } = judged
    if (judged.state !== 'Pending') return undefined
    const { name, uid, generation } = credential
    // The key may do something else now, and the request is authorized again when it is repeated. The value is good.
    if (generation !== first.credential.generation || attempt === MAX_ATTEMPTS) break
    const at = secondsOf(deps)
    const use: Use = {
      hash,
      name,
      uid,
      at,
      ...writtenBy(
        source,
        { attributes: firstUseAttributes(credential, at), also: [signal('rotated', credential)] },
        credential,
        at,
        deps,
      ),
      same: { ...unchanged(credential), disabled: false, deleted: false },
      lacks: ['ended', 'firstUsed'],
    }
    const outcome = await deps.touch(use).catch((error: unknown) => {
      cause = error
      return 'unanswered' as const
    })
    if (outcome === 'done') return undefined
    if (outcome === 'unanswered') break
    judged = await judge(hash, (await deps.readCredential([hash]))?.item, deps)
  }
  if (cause instanceof StorageError && cause.code === 'Full')
    throw insufficientStorage('the first use of the access key was not recorded', cause)
  throw serviceUnavailable('the first use of the access key could not be recorded, please try again', 1, cause)
}

async function touch(hash: KeyHash, judged: Alive, deps: AuthenticationDeps, { signal, source }: Using): Promise<void> {
  const { credential, state } = judged
  const at = secondsOf(deps)
  if (state === 'Pending' || !isActivityDue(credential, at, deps)) return
  const { name, uid, lastActivity, firstUsed } = credential
  const isFirst = state === 'Current' && lastActivity === undefined && firstUsed === undefined
  const written = {
    attributes: activityAttributes(credential, at, deps),
    also: isFirst ? [signal('first-used', credential)] : [],
  }
  try {
    await deps.touch({
      hash,
      name,
      uid,
      at,
      ...writtenBy(source, written, credential, at, deps),
      same: unchanged(credential),
      lacks: ['ended', ...(isFirst ? ['lastActivity'] : [])],
    })
  } catch (error) {
    deps.touchFailed(error)
  }
}
