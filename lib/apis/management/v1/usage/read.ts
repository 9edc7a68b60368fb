/** Reads what an access key did, for users who may read the key. */

import { trialsOf } from '../../../../authentication/credential.ts'
import { keptSince, positionKey } from '../../../../authentication/history/since.ts'
import { keptFrom, usagePartition } from '../../../../authentication/keptitems.ts'
import { decodeKeyInternal } from '../../../../authentication/keyinternal.ts'
import { lifeOfStored } from '../../../../authentication/keystatus.ts'
import { placeName, type RecordedUsage, readUsage, recordingKey } from '../../../../authentication/usage/items.ts'
import type { ScopeOptions } from '../../../../authorization/scopes/project.ts'
import { scopeEntryOf } from '../../../../authorization/usage/scopeentry.ts'
import type { Usage } from '../../../../authorization/usage/usage.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import { rfc3339OfUnix, unixSeconds } from '../../../../meta/encoding/time.ts'
import { groupVersion } from '../../../../meta/groupversion.ts'
import type { JsonObject, KubeObject } from '../../../../meta/types.ts'
import { defined } from '../../../../meta/value/defined.ts'
import { DAY_SECONDS } from '../../../../meta/value/durations.ts'
import type { VirtualRequest } from '../../../../registry/kind.ts'
import type { CompanionItem, Stored } from '../../../../storage/interface.ts'
import { readReviewedKey } from '../accessreview/reviewedkey.ts'
import { specOf } from '../ownedaccesskey.values.ts'
import type { UsageServices } from '../services.ts'
import { adviceFor } from './advise.ts'
import { asRead, readPartition, wordsOf } from './recorded.ts'

const { kind, subresource } = KINDS.OwnedAccessKeyUsage

/** Returns the usage of a key. Throws 403 or 404. */
export async function readKeyUsage(
  { name, context }: Omit<VirtualRequest, 'object'>,
  services: UsageServices,
): Promise<KubeObject> {
  const stored = await readReviewedKey({ name, subresource }, context, services)
  const { uid = '', creationTimestamp } = stored.object.metadata
  const [own, [mark, position]] = await Promise.all([
    readPartition(services.storage, usagePartition(uid)),
    services.storage.getCompanions([recordingKey, positionKey]),
  ])
  const recorded = readUsage(own.items, services.scopes)
  const now = unixSeconds(context.now)
  const since = services.recordUsage ? sinceOf(stored, { mark, position }, now) : undefined
  const usage: Usage = {
    ...recorded,
    isIncomplete: recorded.isIncomplete || !own.isWhole || !services.recordUsage,
    asked: (place) => recorded.asked.get(placeName(place)),
    days: since === undefined ? 0 : Math.floor((now - since) / DAY_SECONDS),
  }
  context.note('reviewedKey', name)
  return {
    apiVersion: groupVersion(KINDS.OwnedAccessKeyUsage),
    kind,
    metadata: defined({ name, uid, creationTimestamp }),
    status: {
      recording: services.recordUsage,
      ...(since !== undefined && { since: rfc3339OfUnix(since) }),
      complete: !usage.isIncomplete,
      entries: entriesOf(recorded, stored, services.scopes),
      clusters: clustersOf(recorded),
      ...adviceFor(stored, usage, services, context.now),
    },
  }
}

/**
 * Returns since when the usage of a key is known, in unix seconds: nothing is older than the store keeps it. A release that keeps
 * no history records no usage either, so usage begins anew after it, too.
 */
function sinceOf(
  stored: Stored,
  { mark, position }: Record<'mark' | 'position', CompanionItem | undefined>,
  now: number,
): number | undefined {
  const recorded = mark?.attributes.since
  const kept = position ? keptSince(position) : 0
  if (typeof recorded !== 'number' || kept === undefined) return undefined
  return Math.max(recorded, kept, lifeOfStored(stored).created, keptFrom(now))
}

function entriesOf(recorded: RecordedUsage, { object, internal }: Stored, options: ScopeOptions): JsonObject[] {
  const trials = trialsOf(specOf(object), decodeKeyInternal(internal)) ?? []
  return asRead(recorded, options).map(({ entry, day, refusedBy = [] }) => {
    const scope = scopeEntryOf(entry, options) as JsonObject | undefined
    const refusing = trials.filter((trial) =>
      refusedBy.some(({ uid, since }) => uid === trial.uid && since === trial.since),
    )
    const whose = new Set(refusing.map(({ uid }) => (uid === object.metadata.uid ? 'Own' : 'Inherited')))
    return {
      request: wordsOf(entry, options),
      ...(scope && { scope }),
      lastUsed: day,
      ...(whose.size > 0 && { refusedBy: [...whose] }),
    }
  })
}

function clustersOf({ accepted, asked }: RecordedUsage): JsonObject[] {
  const accepting = new Map(accepted.map(({ place, day }) => [placeName(place), day]))
  return [...new Set([...accepting.keys(), ...asked.keys()])]
    .sort()
    .map((name) => ({ name, ...defined({ lastAccepted: accepting.get(name), lastAsked: asked.get(name) }) }))
}
