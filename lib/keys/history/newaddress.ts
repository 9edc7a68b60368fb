/**
 * Notices a use of a key from a network that is not among its last sources. The entry of the history is written with the use: one
 * for each network and UTC day, and at most five a day, which the credential counts.
 *
 *     addresses={day=20783 count=2}
 */
import { networkOf } from '../../access/users/sourcecidrs.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'
import type { CompanionItem } from '../../engine/storage/interface.ts'
import type { LastSource } from '../credential/lastsources.ts'
import { isCount } from '../credential/strictrecord.ts'
import { shortUserAgent } from '../credential/useragent.ts'
import { historyItem } from './items.ts'

const MOST_A_DAY = 5

/** What the credential knows of a value. */
interface Used {
  uid: string
  value?: number
  sources?: readonly LastSource[]
  addresses?: JsonObject
}

/** Returns the entry of a use at `at` (unix seconds) and the count after it, or undefined. The first use tells its address itself. */
export function noticeAddress(
  { uid, value, sources = [], addresses }: Used,
  { ip, userAgent }: { ip: string; userAgent?: string },
  at: number,
): { item: CompanionItem; addresses: JsonObject } | undefined {
  const network = networkOf(ip)
  if (network === undefined || sources.length === 0) return undefined
  if (sources.some((one) => networkOf(one.ip) === network)) return undefined
  const day = Math.floor(at / DAY_SECONDS)
  const count = addresses?.day === day && isCount(addresses.count) ? addresses.count : 0
  if (count >= MOST_A_DAY) return undefined
  const detail: JsonObject = {
    ip,
    ...(userAgent && { userAgent: shortUserAgent(userAgent) }),
    ...(value !== undefined && { value }),
  }
  return {
    item: historyItem(uid, { kind: 'new-address', at, detail }, network, day * DAY_SECONDS),
    addresses: { day, count: count + 1 },
  }
}
