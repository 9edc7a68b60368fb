/** Defines OwnedAccessKeyUsage, which says what an access key did (docs/usage.md). */

import { adviseScope } from '../access/advice/advice.ts'
import { findingsOf } from '../access/advice/findings.ts'
import { usedLines } from '../access/advice/lines.ts'
import { diffScopes } from '../access/advice/scopediff.ts'
import type { Usage } from '../access/advice/usage.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { object } from '../engine/meta/schema/schema.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { DAY_SECONDS } from '../engine/meta/value/durations.ts'
import type { ComputedKind } from '../engine/registry/kind.ts'
import type { CompanionItem, Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { keptFrom, usagePartition } from './credential/keptitems.ts'
import { decodeKeyInternal } from './credential/keyinternal.ts'
import { lifeOfStored } from './credential/keystatus.ts'
import { readSources } from './credential/lastsources.ts'
import { keptSince, positionKey } from './history/keptsince.ts'
import { lastUseOf, lifeAt } from './ownedaccesskey.status.ts'
import { readAboutKey } from './ownedaccesskey.subresources.ts'
import { scopesOf, specOf } from './ownedaccesskey.values.ts'
import { status } from './ownedaccesskeyusage.schema.ts'
import { readPartition, shownRequests } from './recorded.ts'
import type { UsageServices } from './services.ts'
import { placeName, type RecordedUsage, readUsage, recordingKey } from './usage/items.ts'

export const OwnedAccessKeyUsage: ComputedKind<UsageServices> = {
  ...KINDS.OwnedAccessKeyUsage,
  description: 'Says what an access key did in the last 90 days.',
  schema: { spec: object('Nothing.', {}), status },
  read: (request, services) =>
    readAboutKey(KINDS.OwnedAccessKeyUsage, request, services, (stored) =>
      usageOf(stored, request.context.now, services),
    ),
}

async function usageOf(stored: Stored, time: Date, services: UsageServices): Promise<JsonObject> {
  const { uid = '' } = stored.object.metadata
  const [own, [mark, position]] = await Promise.all([
    readPartition(services.storage, usagePartition(uid)),
    services.storage.getCompanions([recordingKey, positionKey]),
  ])
  const recorded = readUsage(own.items, services.scopes)
  const now = unixSeconds(time)
  const since = services.recordUsage ? sinceOf(stored, { mark, position }, now) : undefined
  const usage: Usage = {
    ...recorded,
    isIncomplete: recorded.isIncomplete || !own.isWhole || !services.recordUsage,
    asked: (place) => recorded.asked.get(placeName(place)),
    days: since === undefined ? 0 : Math.floor((now - since) / DAY_SECONDS),
  }
  return {
    recording: services.recordUsage,
    ...(since !== undefined && { since: rfc3339OfUnix(since) }),
    complete: !usage.isIncomplete,
    entries: [...entriesOf(recorded, services.scopes), ...refusedOf(recorded, services.scopes)],
    ...(recorded.refusedMore && { refusedMore: true }),
    clusters: clustersOf(recorded),
    ...adviceFor(stored, usage, services, time),
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

const entriesOf = (recorded: RecordedUsage, options: ScopeOptions): JsonObject[] =>
  shownRequests(recorded, options).map(({ request, scope, day }) => ({
    request,
    ...(scope && { scope }),
    lastUsed: day,
  }))

/** Returns what the scopes refused. Without the scope entry: whoever collects those of all entries would give the key what it asks for. */
const refusedOf = ({ refused }: RecordedUsage, options: ScopeOptions): JsonObject[] =>
  shownRequests({ entries: refused }, options).map(({ request, day }) => ({ request, lastUsed: day, refused: true }))

function clustersOf({ accepted, asked }: RecordedUsage): JsonObject[] {
  const accepting = new Map(accepted.map(({ place, day }) => [placeName(place), day]))
  return [...new Set([...accepting.keys(), ...asked.keys()])]
    .sort()
    .map((name) => ({ name, ...defined({ lastAccepted: accepting.get(name), lastAsked: asked.get(name) }) }))
}

/** Returns `lines`, `advice` and `findings` of the status. */
function adviceFor(stored: Stored, usage: Usage, services: UsageServices, now: Date): JsonObject {
  const { scope, sourceCIDRs } = specOf(stored.object)
  const { carried } = decodeKeyInternal(stored.internal)
  const { scope: smaller, unknowns } = adviseScope(scope, usage, { ...services.scopes, inherited: carried })
  const { expires } = lifeAt(services.keys, stored, now)
  const last = lastUseOf(stored, now)
  const findings = findingsOf({
    now,
    created: new Date(stored.object.metadata.creationTimestamp ?? ''),
    networks: readSources(stored.noted?.sources).length,
    days: usage.days,
    isInherited: carried.length > 0,
    ...defined({
      expires: expires === undefined ? undefined : new Date(expires * 1000),
      lastActivity: last === undefined ? undefined : new Date(last),
      sourceCIDRs,
      scope,
    }),
  })
  return {
    lines: linesOf(stored, usage, services),
    advice: {
      ...(smaller && { scope: smaller as JsonObject, ...diffScopes(scope, smaller) }),
      unknowns: unknowns.map((one) => ({ ...one })),
    },
    findings: findings.map((one) => ({ ...one })),
  }
}

/** Returns the lines of every scope of the chain. Those of a key's only scope, its own, have no `chain[N]`. */
function linesOf(stored: Stored, usage: Usage, { scopes }: UsageServices): JsonObject[] {
  const chain = scopesOf(stored)
  const isOwn = chain.length === 1 && specOf(stored.object).scope !== undefined
  return chain.flatMap((scope, index) => {
    const at = isOwn ? '' : `chain[${index}].`
    return usedLines(scope, usage, scopes).map((one) => ({ ...one, line: `${at}${one.line}` }))
  })
}
