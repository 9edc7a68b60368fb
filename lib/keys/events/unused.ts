/**
 * Ends keys that nobody has used for as long as a setting says. Once a day it looks at every key: what nobody uses is in no index. The end is
 * final, so it is a write of the key.
 *
 * The time counts from when the setting was made or shortened, which is stored. A restore drops that: in a table of another day, keys look
 * unused that are in use.
 */

import { effectiveUser, isMaster } from '../../access/users/identity.ts'
import { internalContext } from '../../access/users/internalcontext.ts'
import { effectiveChain } from '../../access/users/privilege.ts'
import { holdsRight } from '../../access/users/reviewright.ts'
import { rfc3339OfUnix, unixSeconds } from '../../engine/meta/encoding/time.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import { unlessLost } from '../../engine/registry/storageerrors.ts'
import { updateObject } from '../../engine/registry/update.ts'
import type { CompanionItem, Stored } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { companionPages, getCompanion } from '../../engine/storage/readcompanions.ts'
import { usagePartition } from '../credential/keptitems.ts'
import { decodeKeyInternal } from '../credential/keyinternal.ts'
import { ACTIVITY_SECONDS, keyStatus, lifeOfStored } from '../credential/keystatus.ts'
import { isCount } from '../credential/strictrecord.ts'
import { lastUseOf, momentOf } from '../ownedaccesskey.status.ts'
import { type ChangeValues, toKey } from '../ownedaccesskey.values.ts'
import { lastDayOf } from '../usage/items.ts'
import type { KeyOccurrence } from './event.ts'
import { DAYS, LEAST_TTL } from './expiries.ts'
import { occurrenceOf } from './keydata.ts'
import type { Lifecycle, Send } from './lifecycle.ts'

/** What a pass has found. */
export interface UnusedKeys {
  /** The keys that nobody has used for longer than the setting says, and that it ends. */
  keys: number
  /** How many of them it has ended. */
  ended: number
  /** From when on it ends keys, in unix seconds. */
  from: number
  /** Whether it has looked at every key. */
  isWhole: boolean
}

type Work = Pick<Lifecycle, 'store' | 'storage' | 'limits' | 'maxIdleSeconds' | 'now' | 'hasTime' | 'deadline'>

/** Since when the setting applies. */
interface Policy {
  seconds: number
  since: number
  /** When the last pass over all keys began that came to its end. */
  passed?: number
  /** When a pass began that has to go on after this key, and how many unused keys it has found. */
  begun?: number
  after?: string
  found?: number
}

const policyKey: ItemKey = { pk: 'unused', sk: '#' }

/**
 * Follows the setting, and looks at all keys if that is due: once a day, and when the setting has changed. Returns what it found, or
 * undefined if nothing was due. Throws if a key could not be judged or ended, after all others: the next run repeats it.
 */
export async function endUnusedKeys(life: Work, send: Send): Promise<UnusedKeys | undefined> {
  const { storage, now, deadline, maxIdleSeconds: seconds } = life
  const item = await getCompanion(storage, policyKey)
  if (seconds === 0) {
    if (item) await storage.writeCompanion({ ...policyKey, attributes: null }, { deadline })
    return undefined
  }
  const at = unixSeconds(now())
  const policy = policyOf(item, seconds, at)
  const { since, passed, begun = at, after } = policy
  const isDue = item?.attributes.seconds !== seconds || passed === undefined || at - passed >= DAY_SECONDS
  if (!isDue && after === undefined) return undefined

  // First: the time counts from now on, also if the pass fails.
  const kept = await storage.writeCompanion(
    { ...policyKey, attributes: { ...policy }, when: { is: item } },
    { deadline },
  )
  // Another run has done the same.
  if (!kept) return undefined
  const pass = { life, send, policy, window: { after: passed ?? begun, to: at } }
  const { next, ...found } = await passFrom(after, pass)
  const keys = (policy.found ?? 0) + found.keys
  const { found: _, after: __, begun: ___, ...rest } = policy
  const progress = next === undefined ? { ...rest, passed: begun } : { ...rest, begun, after: next, found: keys }
  await storage.writeCompanion({ ...policyKey, attributes: progress, when: { is: kept } }, { deadline })
  return { keys, ended: found.ended, from: since + seconds, isWhole: next === undefined }
}

/** Returns the policy with this setting. A shorter time counts from now on, and so does one that a clock has written that was ahead. */
function policyOf(item: CompanionItem | undefined, seconds: number, at: number): Policy {
  const { seconds: known, since, passed, begun, after, found } = item?.attributes ?? {}
  if (!isCount(known) || !isCount(since) || seconds < known || since > at) return { seconds, since: at }
  return {
    seconds,
    since,
    ...(isCount(passed) && { passed }),
    ...(isCount(begun) && typeof after === 'string' && { begun, after, found: isCount(found) ? found : 0 }),
  }
}

interface Pass {
  life: Work
  send: Send
  policy: Policy
  /** The time of which it sends events. */
  window: { after: number; to: number }
}

/** Looks at the keys after this one, as long as there is time. Returns after which the next run goes on. */
async function passFrom(
  start: string | undefined,
  pass: Pass,
): Promise<{ keys: number; ended: number; next?: string }> {
  const { store, storage, hasTime } = pass.life
  const result = { keys: 0, ended: 0 }
  let failed: { error: unknown } | undefined
  for (let after = start; ; ) {
    const page = await storage.list(store.kind.table, { keepsNext: true, ...(after !== undefined && { after }) })
    await forEach(
      page.items,
      () => true,
      async (one) => {
        const { isUnused, isEnded } = await judge(one.read(), pass)
        if (isUnused) result.keys++
        if (isEnded) result.ended++
      },
    ).catch((error: unknown) => {
      failed ??= { error }
    })
    after = page.next
    if (after === undefined) break
    if (!hasTime()) return { ...result, next: after }
  }
  if (failed) throw failed.error
  return result
}

/** Judges a key: ends it, or sends that its end comes. */
async function judge(stored: Stored, pass: Pass): Promise<{ isUnused: boolean; isEnded: boolean }> {
  const { life, send, policy, window } = pass
  const { seconds, since } = policy
  const nothing = { isUnused: false, isEnded: false }
  if (isExempt(stored, life)) return nothing
  const shown = lastUse(stored, life.now())
  const isNear = shown + seconds <= window.to || daysBefore(Math.max(shown, since) + seconds, pass).length > 0
  if (!isNear) return nothing
  const used = Math.max(shown, await lastRecordedUse(stored, life))
  const end = Math.max(used, since) + seconds
  const isUnused = used + seconds <= window.to
  if (end <= window.to) return { isUnused, isEnded: await endKey(stored, used, pass) }
  await send(daysBefore(end, pass).flatMap((days) => ending(stored, days, end, life)))
  return { isUnused, isEnded: false }
}

/**
 * Reports whether the setting leaves the key alone. Without the key of a cluster that asks for reviews, the cluster refuses its users, and
 * administrators need a key for the day on which nothing else works. Keys of exchanges end on their own. What has expired or ended is
 * left as it is.
 */
function isExempt(stored: Stored, { limits, now }: Work): boolean {
  const internal = decodeKeyInternal(stored.internal)
  const key = toKey(stored)
  const chain = effectiveChain(key)
  const { state } = keyStatus(lifeOfStored(stored), unixSeconds(now()), limits)
  return (
    (state !== 'Active' && state !== 'Disabled') ||
    internal.federation !== undefined ||
    holdsRight(internal, chain) ||
    (chain.length === 0 && isMaster(effectiveUser(key)))
  )
}

/** Returns the latest second in which the key may have been used, as its status says, or in which it was made. */
function lastUse(stored: Stored, now: Date): number {
  const shown = lastUseOf(stored, now)
  const used = shown === undefined ? 0 : Math.floor(momentOf(shown) / 1000) + ACTIVITY_SECONDS
  return Math.max(lifeOfStored(stored).created, used)
}

/** Returns the end of the last day on which a use of the key is recorded, or 0. Uses of its tokens are recorded nowhere else. */
async function lastRecordedUse({ object }: Stored, { storage }: Work): Promise<number> {
  let last = ''
  for await (const items of companionPages(storage, usagePartition(object.metadata.uid ?? '')))
    last = [last, lastDayOf(items)].sort().at(-1) ?? ''
  const day = Date.parse(last)
  return Number.isNaN(day) ? 0 : Math.floor(day / 1000) + DAY_SECONDS
}

/** Returns how many days before the end events are due. */
const daysBefore = (end: number, { policy, window }: Pick<Pass, 'policy' | 'window'>): number[] =>
  DAYS.filter((days) => {
    const at = end - days * DAY_SECONDS
    return policy.seconds >= LEAST_TTL * days * DAY_SECONDS && at > window.after && at <= window.to
  })

/** Returns the event that a key ends in so many days, if it gives access until then. */
function ending(stored: Stored, days: number, end: number, { limits, now }: Work): KeyOccurrence[] {
  const { state, expires = Number.POSITIVE_INFINITY } = keyStatus(lifeOfStored(stored), unixSeconds(now()), limits)
  if (state !== 'Active' || expires <= end) return []
  const data = { days, how: 'Unused', expirationTimestamp: rfc3339OfUnix(end) }
  const happened = { kind: 'expiring', unique: `unused ${days} ${end}`, data } as const
  return [occurrenceOf(stored, end - days * DAY_SECONDS, limits, happened)]
}

/** Ends the key, unless it was used since `used`. Returns whether it did. */
async function endKey({ object }: Stored, used: number, { life, policy }: Pass): Promise<boolean> {
  const { store, now, deadline } = life
  const { name = '', uid = '' } = object.metadata
  const at = unixSeconds(now())
  let isEnded = false
  const change: ChangeValues = (settled, before) => {
    const last = Math.max(used, policy.since, lastUse(before, now()))
    isEnded = !isExempt(before, life) && last + policy.seconds <= at
    return isEnded ? { internal: { ...settled, endedUnused: at }, ended: [], disables: true } : undefined
  }
  const request = {
    namespace: '',
    name,
    subresource: '',
    verb: 'patch',
    uid,
    intent: { type: 'unused', change },
  } as const
  const context = internalContext('system:controller:lifecycle', now(), deadline)
  return (
    (await unlessLost(async () => {
      await updateObject(store, request, context)
      return isEnded
    })) ?? false
  )
}
