/**
 * Records which ID tokens were exchanged, in the transaction of the key. Functions that write keys can put these items,
 * but not delete them.
 *
 *     pk=exchange#HASH sk=#      trust=UID key=NAME expires=…    a token that is exchanged once
 *     pk=exchange#HASH sk=KEYUID trust=UID key=NAME expires=…    each key of a token that is exchanged during its lifetime
 */

import type { TokenUse } from '../../federation/catalogue.ts'
import { type IdToken, LEEWAY, replayId } from '../../federation/idtoken.ts'
import type { Trust } from '../../federation/trust.ts'
import type { Companion, Storage } from '../../storage/interface.ts'
import { OAuthError } from '../oauth/oautherror.ts'

/** How long a record is kept after its token has expired, for clocks that differ. Seconds. */
const KEPT = 3600

/** The most keys that a trust gives for one token, besides those that have expired. */
export const MOST_KEYS = 50

const SORT_KEY = '#'

const partitionOf = (token: IdToken): string => `exchange#${replayId(token)}`

/** Returns the record to write with a key that lives until `expires` (Unix seconds). */
export function replayRecord(
  token: IdToken,
  trust: Trust,
  use: TokenUse,
  key: { name: string; uid: string; expires: number },
): Companion {
  const [sk, expires] = use === 'Once' ? [SORT_KEY, token.expires + LEEWAY + KEPT] : [key.uid, key.expires]
  const attributes = { trust: trust.uid, key: key.name, expires }
  return { op: 'put', pk: partitionOf(token), sk, attributes, ifAbsent: true }
}

/** Returns the error for a token that was exchanged before. */
export const replayed = (): OAuthError =>
  new OAuthError(
    'invalid_request',
    'replayed',
    'the subject token has been exchanged already: get a new one from the issuer',
  )

type Reads = Pick<Storage, 'getCompanion' | 'queryCompanions'>

/** Throws if the token was exchanged once. The write of the key checks it too; this serves dry runs. */
export async function checkUnused(storage: Reads, token: IdToken): Promise<void> {
  if (await storage.getCompanion(partitionOf(token), SORT_KEY)) throw replayed()
}

/** Throws if the trust has given as many keys for the token as it may. Exchanges at the same time are not counted yet. */
export async function checkKeyCount(storage: Reads, token: IdToken, trust: Trust, now: Date): Promise<void> {
  const { items } = await storage.queryCompanions(partitionOf(token))
  const living = items.filter(
    ({ attributes }) => attributes.trust === trust.uid && Number(attributes.expires) * 1000 > now.getTime(),
  )
  if (living.length < MOST_KEYS) return
  const why = `the subject token has been exchanged for ${MOST_KEYS} access keys: use those, or get a new one from the issuer`
  throw new OAuthError('invalid_request', 'too_many_keys', why)
}
