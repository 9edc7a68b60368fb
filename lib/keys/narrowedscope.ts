/** Says in a dry run which recorded requests of a key its new scope would refuse. */

import { acceptedBy } from '../access/advice/places.ts'
import { refusedEntries } from '../access/advice/refusedentries.ts'
import { removesSomething } from '../access/advice/scopediff.ts'
import { evaluateHere } from '../access/scopes/evaluate.ts'
import { effectiveUser, MASTERS } from '../access/users/identity.ts'
import { effectiveChain } from '../access/users/privilege.ts'
import type { UserInfo } from '../access/users/user.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { usagePartition } from './credential/keptitems.ts'
import { accessReviewRule } from './ownedaccesskey.subresources.ts'
import { specOf, toKey } from './ownedaccesskey.values.ts'
import { readPartition, shownRequests } from './recorded.ts'
import type { Services } from './services.ts'
import { placeName, readUsage } from './usage/items.ts'

/** The most requests that the warnings name. */
const MOST_NAMED = 10

/** Returns the warnings for an update that gives the key another scope. Reads its usage, unless the scope removes nothing. */
export async function narrowedScopeWarnings(
  draft: Pick<Stored, 'object' | 'internal'>,
  old: Stored,
  user: UserInfo,
  services: Services,
): Promise<string[]> {
  const { name = '', uid = '' } = old.object.metadata
  const key = `access key "${name}"`
  const { scope } = specOf(draft.object)
  if (scope === undefined || !removesSomething(specOf(old.object).scope, scope)) return []
  if (!mayReadUsage(user, old, services)) {
    return [`you may not read the usage of ${key}, so the requests that the new scope would refuse are not named`]
  }
  const { items, isWhole } = await readPartition(services.keyStore().storage, usagePartition(uid))
  const usage = readUsage(items, services.scopes)
  const [before, after] = [effectiveChain(toKey(old)), effectiveChain(toKey(draft))]
  const isMaster = effectiveUser(toKey(old)).groups.includes(MASTERS)
  const refused = refusedEntries(usage.entries, { before, after, name, isMaster }, services.scopes)
  const requests = (isCertain: boolean, which: string): string[] =>
    shownRequests({ entries: refused.filter((one) => one.isCertain === isCertain) }, services.scopes).map(
      ({ request, day }) => `the new scope would refuse ${which} that ${key} last made on ${day}: ${request}`,
    )
  const places = usage.accepted.filter(
    ({ place }) => acceptedBy(before, place, services.scopes) && !acceptedBy(after, place, services.scopes),
  )
  const found = [
    ...places.map(({ place, day }) => `${placeName(place)} would no longer accept ${key}, as it last did on ${day}`),
    ...requests(true, 'requests'),
    ...requests(false, 'some requests'),
  ]
  const more = found.length - MOST_NAMED
  return [
    ...found.slice(0, MOST_NAMED),
    ...(more > 0 ? [`${more} more such warnings are left out: see the usage of ${key}`] : []),
    ...(services.recordUsage && isWhole && !usage.isIncomplete
      ? []
      : [`the usage of ${key} is not recorded completely, so the new scope may refuse more requests`]),
  ]
}

/** Reports whether the user may read the usage of the key. */
function mayReadUsage(user: UserInfo, stored: Stored, services: Services): boolean {
  const { name = '' } = stored.object.metadata
  const asked = { verb: 'get', subresource: KINDS.OwnedAccessKeyUsage.subresource, name }
  const isSeen = evaluateHere(user.chain, KINDS.OwnedAccessKey, asked, services.scopes).allowed
  return isSeen && accessReviewRule.forbids(user, stored, services) === undefined
}
