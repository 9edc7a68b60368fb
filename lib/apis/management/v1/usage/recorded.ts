/** Reads the items of what was recorded about a key, and which of its requests the trial of its scope would have refused. */
import { usagePartition } from '../../../../authentication/usage/days.ts'
import { type RefusingTrial, readUsage } from '../../../../authentication/usage/items.ts'
import { describeRequest, evaluateHere } from '../../../../authorization/scopes/evaluate.ts'
import type { ScopeOptions } from '../../../../authorization/scopes/project.ts'
import { type UsedEntry, withoutAnyName } from '../../../../authorization/usage/usedentry.ts'
import type { UserInfo } from '../../../../authorization/users/user.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
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
  return readUsage(items, services.scopes).entries.flatMap(({ entry, day, refusedBy = [] }) =>
    refusedBy.some(({ uid, since }) => uid === trial.uid && since === trial.since)
      ? [`${wordsOf(entry, services.scopes)} (${day})`]
      : [],
  )
}
