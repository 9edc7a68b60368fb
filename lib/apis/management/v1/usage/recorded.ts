/** Reads the items of what was recorded about a key, and which of its requests the trial of its scope would have refused. */
import { usagePartition } from '../../../../authentication/keptitems.ts'
import { type RecordedUsage, type RefusingTrial, readUsage } from '../../../../authentication/usage/items.ts'
import { describeRequest, evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import { exactEntry } from '../../../../authorization/scopes/exactentry.ts'
import type { ScopeOptions } from '../../../../authorization/scopes/project.ts'
import type { Scope } from '../../../../authorization/scopes/scope.ts'
import { type UsedEntry, withoutAnyName } from '../../../../authorization/usage/usedentry.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import { stringify } from '../../../../meta/encoding/json.ts'
import type { JsonValue } from '../../../../meta/types.ts'
import { defined } from '../../../../meta/value/defined.ts'
import type { CompanionItem, Storage, Stored } from '../../../../storage/interface.ts'
import { accessReviewRule } from '../accessreview/ownedaccesskeyaccessreview.access.ts'
import type { Services } from '../services.ts'

/** The most pages of 1 MB that are read. A process writes at most 64 entries of a key a day, so this is never reached by honest use. */
const MOST_PAGES = 4

export async function readPartition(
  storage: Pick<Storage, 'queryCompanions'>,
  pk: string,
): Promise<{ items: CompanionItem[]; isWhole: boolean }> {
  const items: CompanionItem[] = []
  let after: string | undefined
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const page = await storage.queryCompanions(pk, defined({ after }))
    items.push(...page.items)
    after = page.next
    if (after === undefined) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}

export const wordsOf = ({ attributes }: UsedEntry, options: ScopeOptions): string =>
  describeRequest(withoutAnyName(attributes), options)

/**
 * Returns the entries as people read them, the latest first. Requests without a name and those with any name are two entries for the
 * decisions of scopes, and one here.
 */
export function asRead({ entries }: RecordedUsage, options: ScopeOptions): RecordedUsage['entries'] {
  const read = new Map<string, RecordedUsage['entries'][number]>()
  for (const { entry, day, refusedBy = [] } of entries) {
    const text = stringify([wordsOf(entry, options), (scopeEntryOf(entry, options) ?? null) as JsonValue])
    const { day: other = day, refusedBy: trials = [] } = read.get(text) ?? {}
    read.set(text, { entry, day: day > other ? day : other, refusedBy: [...trials, ...refusedBy] })
  }
  return [...read.values()].sort((one, other) => (one.day < other.day ? 1 : -1))
}

/** Returns the requests of the key that its trial would have refused, with their days, if the user may read its usage. */
export async function refusedRequests(
  stored: Stored,
  trial: RefusingTrial,
  user: UserInfo,
  services: Services,
): Promise<string[]> {
  const { name = '' } = stored.object.metadata
  const asked = { verb: 'get', subresource: KINDS.OwnedAccessKeyUsage.subresource, name }
  const isSeen = evaluateHere(user.chain, KINDS.OwnedAccessKey, asked, services.scopes).allowed
  if (!isSeen || accessReviewRule.forbids?.(user, stored, services) !== undefined) return []
  const { items } = await readPartition(services.keyStore().storage, usagePartition(trial.uid))
  return asRead(readUsage(items, services.scopes), services.scopes).flatMap(({ entry, day, refusedBy = [] }) =>
    refusedBy.some(({ uid, since }) => uid === trial.uid && since === trial.since)
      ? [`${wordsOf(entry, services.scopes)} (${day})`]
      : [],
  )
}

/** Returns the scope entry that allows the entry and nothing else, or undefined when no rule is that narrow. */
export const scopeEntryOf = ({ attributes }: UsedEntry, options: ScopeOptions): Scope | undefined =>
  exactEntry(withoutAnyName(attributes), options)
