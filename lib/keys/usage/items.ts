/**
 * Builds and reads what is recorded about the use of keys, in side items of each key: what it did, and which clusters accepted it.
 * An item says on which day that was last, in UTC. It is put again on each such day, and the store deletes it after 90 days.
 *
 *     pk=usage#UID sk=bXkga2V5IGhhc2gx entry={verb=get group= resource=pods …} day=2026-11-26 expires=1803036800
 *     pk=usage#UID sk=c2Vjb25kIGhhc2g accepted={cluster=prod} day=2026-11-26 expires=…
 *     pk=usage#UID sk=dGhpcmQgaGFzaCA asked={cluster=prod} day=2026-11-26 expires=…      the cluster asked about what every scope allows
 *     pk=usage#UID sk=denied#Zm91cnRoIGhhc2g refused={verb=delete …} day=2026-11-26 expires=…       the scopes refused it
 *     pk=usage#UID sk=denied#others day=2026-11-26 expires=…                 they refused more than is recorded
 *     pk=usage#UID sk=others day=2026-11-26 expires=…                        the key did more than is recorded
 */

import {
  decodeEntry,
  decodePlace,
  encodeEntry,
  encodePlace,
  type UsedEntry,
  type UsedPlace,
} from '../../access/advice/usedentry.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import { stringify } from '../../engine/meta/encoding/json.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { withoutCredentials } from '../../engine/meta/value/credentialtext.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import type { ItemKey } from '../../engine/storage/keys.ts'
import { dayOf, expiryOf, itemHash, usagePartition } from '../credential/keptitems.ts'

/**
 * A recorded use of a key: a request, or its use at a cluster that accepts keys. It can also record that the key did more than is
 * recorded, a request that its scopes refused, or (`undefined`) that they refused more. If a cluster asks about a request that is not recorded, a separate fact records that it asked.
 */
export type UsageFact =
  | { entry: UsedEntry }
  | { accepted: UsedPlace }
  | { asked: UsedPlace }
  | { refused: UsedEntry | undefined }
  | 'others'

const OTHERS = 'others'
const DENIED = 'denied#'
/**
 * An entry that is longer as JSON, such as one with a long path, is not recorded, so that an item costs one write unit. Nor is one
 * with a credential, which people paste into paths.
 */
const MAX_BYTES = 700

const dated = (at: number): JsonObject => ({ day: dayOf(at), expires: expiryOf(at) })

/** Returns the item of what a key did at `at` (unix seconds). */
export function usageItem(uid: string, fact: UsageFact, at: number): CompanionItem {
  const pk = usagePartition(uid)
  const attributes = attributesOf(fact)
  const text = stringify(attributes)
  const isUnfit = Buffer.byteLength(text) > MAX_BYTES || withoutCredentials(text) !== text
  const prefix = fact !== OTHERS && 'refused' in fact ? DENIED : ''
  if (text === '{}' || isUnfit) return { pk, sk: `${prefix}${OTHERS}`, attributes: dated(at) }
  return { pk, sk: `${prefix}${itemHash(text)}`, attributes: { ...attributes, ...dated(at) } }
}

function attributesOf(fact: UsageFact): JsonObject {
  if (fact === OTHERS) return {}
  if ('accepted' in fact) return { accepted: encodePlace(fact.accepted) }
  if ('asked' in fact) return { asked: encodePlace(fact.asked) }
  if ('refused' in fact) return fact.refused ? { refused: encodeEntry(fact.refused) } : {}
  return { entry: encodeEntry(fact.entry) }
}

/** Returns the last day on which a use is recorded in items of a key, as `2026-11-26`, or an empty text. A refused request is no use. */
export const lastDayOf = (items: readonly Pick<CompanionItem, 'sk' | 'attributes'>[]): string =>
  items
    .filter(({ sk }) => !sk.startsWith(DENIED))
    .map(({ attributes: { day } }) => String(day))
    .sort()
    .at(-1) ?? ''

/** Returns how a cluster is shown. */
export const placeName = (place: UsedPlace): string =>
  place.type === 'cluster' ? `clusters/${place.name}` : `virtualclusters/${place.namespace}/${place.name}`

/** The items of a key. `day` is the last one, as `2026-11-26`. */
export interface RecordedUsage {
  entries: { entry: UsedEntry; day: string }[]
  accepted: { place: UsedPlace; day: string }[]
  /** The last day on which each cluster asked about the key, by the name of the cluster. */
  asked: Map<string, string>
  /** Whether the key did more than is recorded. */
  isIncomplete: boolean
  /** What the scopes of the key refused. It is no use of the key, and advice never sees it. */
  refused: { entry: UsedEntry; day: string }[]
  /** Whether they refused more than is recorded. */
  refusedMore: boolean
}

/** Reads the items of a key. An item in another form is one that this release cannot read: then the rest is incomplete. */
export function readUsage(
  items: readonly Pick<CompanionItem, 'sk' | 'attributes'>[],
  options: ScopeOptions,
): RecordedUsage {
  const read: RecordedUsage = {
    entries: [],
    accepted: [],
    asked: new Map(),
    isIncomplete: false,
    refused: [],
    refusedMore: false,
  }
  for (const { sk, attributes } of items) {
    const { day } = attributes
    if (sk.startsWith(DENIED)) {
      const refused = decodeEntry(attributes.refused, options)
      if (refused && typeof day === 'string') read.refused.push({ entry: refused, day })
      else read.refusedMore = true
      continue
    }
    const entry = decodeEntry(attributes.entry, options)
    const accepted = decodePlace(attributes.accepted)
    const asked = entry ? entry.place : decodePlace(attributes.asked)
    if (sk === OTHERS || typeof day !== 'string' || !(entry || accepted || asked)) {
      read.isIncomplete = true
      continue
    }
    if (entry) read.entries.push({ entry, day })
    if (accepted) read.accepted.push({ place: accepted, day })
    if (asked) read.asked.set(placeName(asked), later(day, read.asked.get(placeName(asked))))
  }
  return read
}

const later = (day: string, other = day): string => (day > other ? day : other)

/** The mark since when the deployment records usage. */
export const recordingKey: ItemKey = { pk: 'recording', sk: '#' }
