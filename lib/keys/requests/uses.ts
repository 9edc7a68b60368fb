/**
 * Records the uses of a value that was presented: the first use of a pending one, from which on the old value ends, and the last
 * activity of every other.
 */
import { insufficientStorage, serviceUnavailable } from '../../engine/meta/errors/status.ts'
import type { JsonObject, JsonValue } from '../../engine/meta/types.ts'
import { StorageError } from '../../engine/storage/errors.ts'
import type { CompanionItem, TouchOutcome } from '../../engine/storage/interface.ts'
import type { Credential } from '../credential/credential.ts'
import { activityAttributes, firstUseAttributes } from '../credential/expiryindex.ts'
import { isActivityDue } from '../credential/keystatus.ts'
import { storedSources, withSource } from '../credential/lastsources.ts'
import type { KeyHash } from '../credential/pepper.ts'
import { type SignalKind, signalItem } from '../credential/signals.ts'
import { noticeAddress } from '../history/newaddress.ts'
import { type JudgeDeps, type Judgement, judge } from '../values/judge.ts'

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

export interface UseDeps extends JudgeDeps {
  /** Writes a use of the key. Never recreates a deleted item. */
  touch(use: Use): Promise<TouchOutcome>
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

/** A value that gave access when it was judged, with what its uses depend on. */
export interface PresentedValue {
  hash: KeyHash
  judged: LivingValue
  source: Source | undefined
}

export type LivingValue = Extract<Judgement, { credential: Credential }>

/** Why a key no longer gives access. `dead` may be shown to its holder. */
export type Ended = { dead: string } | { unknown: true }

/** How often a first use is attempted while others change the key. */
const MAX_ATTEMPTS = 3

/**
 * Records the first use of a pending value, from which on the old value ends. Call it after the request is authorized, before it takes
 * effect, also for a dry run. Does nothing for other values. Returns why the key no longer gives access, or undefined. Throws 503 or 507
 * if the use could not be recorded: then the request must not be allowed.
 */
export async function confirmFirstUse(
  { hash, judged: first, source }: PresentedValue,
  deps: UseDeps,
): Promise<Ended | undefined> {
  let judged: Judgement = first
  let cause: unknown
  for (let attempt = 0; ; attempt++) {
    if ('unknown' in judged) return judged
    if ('dead' in judged) return { dead: judged.dead }
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
        {
          attributes: firstUseAttributes(credential, at),
          also: [signalOf('rotated', credential, { hash, at, source })],
        },
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

/**
 * Updates the last activity when due. Call it after the request is authorized. Never rejects. Does nothing for a pending value:
 * `confirmFirstUse` records its use.
 */
export async function recordActivity({ hash, judged, source }: PresentedValue, deps: UseDeps): Promise<void> {
  const { credential, state } = judged
  const at = secondsOf(deps)
  if (state === 'Pending' || !isActivityDue(credential, at, deps)) return
  const { name, uid, lastActivity, firstUsed } = credential
  const isFirst = state === 'Current' && lastActivity === undefined && firstUsed === undefined
  const written = {
    attributes: activityAttributes(credential, at, deps),
    also: isFirst ? [signalOf('first-used', credential, { hash, at, source })] : [],
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

/**
 * Returns what a use writes: these attributes, these items and, if the deployment records sources, where the key was used from, with
 * an entry of its history if that is new.
 */
function writtenBy(
  source: Source | undefined,
  { attributes, also }: Pick<Use, 'attributes' | 'also'>,
  credential: Credential,
  at: number,
  { recordSources }: UseDeps,
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

/** The key that a signal is about, and the number of its value if that is known. */
export interface SignalledKey {
  name: string
  uid: string
  value?: number
}

/** Returns the item of a signal about the value with this hash. */
export function signalOf(
  kind: SignalKind,
  { name, uid, value }: SignalledKey,
  { hash, at, source }: { hash: KeyHash; at: number; source: Source | undefined },
): CompanionItem {
  return signalItem({ kind, name, uid, at, ...(value !== undefined && { value }), ...source }, hash)
}

/** Returns the condition that the item is still what was judged. */
const unchanged = ({ uid, generation, pending, until }: Credential): Use['same'] => ({
  uid,
  generation,
  pending,
  until,
})

/** Returns the time in unix seconds. */
export const secondsOf = ({ now }: Pick<UseDeps, 'now'>): number => Math.floor(now() / 1000)
