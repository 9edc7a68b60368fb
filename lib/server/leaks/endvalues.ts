/**
 * Ends reported values, and signals them. It writes as a user of the server itself, in one transaction for each value: the
 * key, the tombstone of the value, and the signal.
 */

import { internalContext } from '../../access/users/internalcontext.ts'
import { mayReview } from '../../access/users/lockout.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import { deleteObject } from '../../engine/registry/delete.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import { unlessLost } from '../../engine/registry/storageerrors.ts'
import { updateObject } from '../../engine/registry/update.ts'
import type { Companion, CompanionItem, Stored } from '../../engine/storage/interface.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import { credentialItemKey } from '../../keys/credential/credential.ts'
import { decodeKeyInternal, type Leak } from '../../keys/credential/keyinternal.ts'
import type { KeyHash } from '../../keys/credential/pepper.ts'
import { markKey, type Signal, signalItem } from '../../keys/credential/signals.ts'
import { OwnedAccessKey } from '../../keys/ownedaccesskey.ts'
import { type ChangeValues, reviewer } from '../../keys/ownedaccesskey.values.ts'
import { findValue } from '../../keys/values/keyvalues.ts'
import { endLeaked, endTokens, leakedTombstone } from '../../keys/values/leak.ts'
import { isTombstone } from '../../keys/values/tombstone.ts'
import type { NoteFacts } from '../lambda/publicendpoint.ts'
import type { Server } from '../server.ts'
import { writeSignal } from '../signals.ts'
import { type ReportedValue, readValue } from './findvalues.ts'
import { cleanUrl } from './leakurl.ts'
import type { Finding } from './report.ts'

/** What ending values needs of the server. */
type EndingServer = Pick<Server, 'config' | 'now' | 'storage' | 'storeOf'>

/** A value to end, and what is written with its end. */
interface Ending {
  server: EndingServer
  reported: ReportedValue
  leak: Leak
  signal: CompanionItem
  context: RequestContext
  /** Gets the name of each key with the right to review of which a value ends. */
  reviewers: Set<string>
}

interface LeakReport {
  findings: readonly Finding[]
  /** The values among them, by text. */
  values: ReadonlyMap<string, ReportedValue>
  requestId: string
  deadline: Deadline
  note: NoteFacts
}

/**
 * Ends the values, or only signals them if the deployment wants that. A repetition changes nothing. After a failure it
 * continues with the other keys, then throws.
 */
export async function endValues(server: EndingServer, report: LeakReport): Promise<void> {
  const { findings, values, requestId, deadline, note } = report
  const context = { ...internalContext('system:leak-report', server.now(), deadline), requestId }
  const texts = [...values.keys()]
  const names = new Set<string>()
  const reviewers = new Set<string>()
  const hasTime = () => deadline() > 0
  await forEach(Map.groupBy(values, ([, { name }]) => name).values(), hasTime, async (ofOneKey) => {
    for (const [text, reported] of ofOneKey) {
      const url = cleanUrl(findings.find((one) => one.text === text && one.url !== undefined)?.url, texts)
      const leak: Leak = { at: unixSeconds(context.now), ...(url && { url }) }
      if (await endValue({ server, reported, leak, signal: signalOf(reported, leak), context, reviewers }))
        names.add(reported.name)
    }
  }).finally(() =>
    note({
      count: names.size,
      ...(names.size > 0 && { names: [...names] }),
      ...(reviewers.size > 0 && { reviewers: [...reviewers] }),
    }),
  )
}

function signalOf({ hash, name, uid, value }: ReportedValue, leak: Leak): CompanionItem {
  const signal: Signal = { kind: 'leaked', name, uid, ...leak, ...(value !== undefined && { value }) }
  return signalItem(signal, hash)
}

/** Ends a value and signals it. Returns whether this report is the first of it that has an effect. */
async function endValue(ending: Ending): Promise<boolean> {
  const { server, reported, signal, context } = ending
  const isOnlyTold = server.config.onLeak === 'report'
  if (!isOnlyTold && !reported.isLeaked) {
    const end = reported.isExchanged ? removeKey : changeKey
    if (await end(ending)) return true
  }
  const isFirst = await writeSignal(server.storage, signal, context)
  if (!isFirst || !isOnlyTold) return false
  // The event of the signal may have been published earlier today, and the signal removed.
  const [told] = await server.storage.getCompanions([markKey(signal)])
  return told === undefined
}

/**
 * Ends the value, the values of the key that were made with it, and the tokens that these may have made. Disables the key if one
 * of them is its current value. A value that had ended is known as leaked from then on. Returns false if nothing has changed.
 */
async function changeKey({ server, reported, leak, signal, context, reviewers }: Ending): Promise<boolean> {
  const { hash, name, uid } = reported
  const store = server.storeOf(OwnedAccessKey)
  let hasChanged = false
  let value = reported
  const change: ChangeValues = async (settled, before) => {
    if (!findValue(settled, hash)) value = (await readAgain(server, reported)) ?? reported
    const end = endLeaked(settled, hash, leak, value)
    const disables = end?.internal.ended !== undefined && !settled.ended
    const change = end ?? endTokens(settled, value.ended ?? leak.at)
    hasChanged = change !== undefined
    if (end !== undefined && mayReview(reviewer(before))) reviewers.add(name)
    if (change === undefined) return undefined
    // The overlap of the value may have ended without a write.
    const isUnsettled = value.ended === undefined && findValue(decodeKeyInternal(before.internal), hash)
    const ended = [...change.ended, ...(isUnsettled ? [{ credential: hash, reason: 'leaked' as const }] : [])]
    return { ...change, disables, ended, items: [{ op: 'put', ...signal }] }
  }
  const at = { namespace: '', name, subresource: '', verb: 'patch', uid } as const
  const isDone = await unlessLost(async () => {
    await updateObject(store, { ...at, intent: { type: 'leak', change } }, context)
    return hasChanged
  })
  if (value.ended !== undefined && !value.isLeaked) await keepAsLeaked(server, hash, context)
  return isDone ?? false
}

/** Makes the tombstone of a value that had ended that of a leaked one, which is kept permanently. */
async function keepAsLeaked({ storage }: EndingServer, hash: KeyHash, context: RequestContext): Promise<void> {
  const { pk, sk } = credentialItemKey(hash)
  const item = await getCompanion(storage, { pk, sk })
  if (item === undefined || !isTombstone(item.attributes)) return
  const { expires: _, ...kept } = item.attributes
  await storage.writeCompanion({ pk, sk, attributes: { ...kept, ended: 'leaked' }, when: { is: item } }, context)
}

/** Reads a value again that has ended, perhaps since it was found. */
async function readAgain({ storage }: EndingServer, { hash }: ReportedValue): Promise<ReportedValue | undefined> {
  const { pk, sk } = credentialItemKey(hash)
  const item = await getCompanion(storage, { pk, sk })
  return item && readValue(hash, item)
}

/**
 * Deletes the key of an exchange, which cannot be enabled again anyway, and leaves a tombstone of the value. Returns false if the
 * key is gone.
 */
async function removeKey(ending: Ending): Promise<boolean> {
  const { server, reported, signal, context, reviewers } = ending
  const { hash, name, uid } = reported
  const store = server.storeOf(OwnedAccessKey)
  const items = (before: Stored): Companion[] => {
    if (mayReview(reviewer(before))) reviewers.add(name)
    return [leakedTombstone(before, hash, unixSeconds(context.now)), { op: 'put', ...signal }]
  }
  const intent = { type: 'removal', items } as const
  const options = { preconditions: { uid }, propagationPolicy: 'Background' as const, intent }
  const isEnded = await unlessLost(async () => {
    const { gone } = await deleteObject(store, { namespace: '', name }, options, context)
    // Finalizers keep the key, which gives no access. Its value must not be free when they are gone.
    return gone || (await changeKey(ending))
  })
  return isEnded ?? false
}
