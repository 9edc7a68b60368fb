/**
 * Records which ID tokens were exchanged, in the transaction of the key. Functions that write keys can put these items,
 * but not delete them. `slots.ts` has the records of tokens that are exchanged during their lifetime.
 *
 *     pk=exchange#HASH sk=# trust=UID key=NAME returned=true returns=1 expires=…
 */

import type { Companion, Storage } from '../../engine/storage/interface.ts'
import { getCompanion } from '../../engine/storage/readcompanions.ts'
import { type IdToken, LEEWAY, replayId } from '../idtoken.ts'
import { OAuthError } from '../oauth/oautherror.ts'
import type { Trust } from '../trust.ts'

/** How long a record is kept after its token has expired, for clocks that differ. Seconds. */
const KEPT = 3600

const SORT_KEY = '#'

/** Returns until when records of the token are kept, in Unix seconds. */
export const keptUntil = (token: IdToken): number => token.expires + LEEWAY + KEPT

/** Returns the partition of the records of a token. */
export const partitionOf = (token: IdToken): string => `exchange#${replayId(token)}`

/** Returns the record to write with the key of a token that is exchanged once. */
export function replayRecord(token: IdToken, trust: Trust, key: string): Extract<Companion, { op: 'put' }> {
  const attributes = { trust: trust.uid, key, expires: keptUntil(token) }
  return { op: 'put', pk: partitionOf(token), sk: SORT_KEY, attributes, ifAbsent: true }
}

/** So often an ID token is given back. A cluster that fails more often is not what fails. */
const MOST_RETURNS = 3

/**
 * Returns the record of a token that may have been given back: its earlier exchange gave nothing, because the cluster failed. Throws for one
 * that was exchanged.
 */
export async function recordAgain(
  storage: Pick<Storage, 'getCompanions'>,
  token: IdToken,
  trust: Trust,
  key: string,
): Promise<Companion> {
  const record = replayRecord(token, trust, key)
  const before = await getCompanion(storage, record)
  if (before === undefined) return record
  if (before.attributes.returned !== true) throw replayed()
  const { ifAbsent: _, attributes, ...again } = record
  const { key: earlier = null, returns = 1 } = before.attributes
  return { ...again, attributes: { ...attributes, returns }, when: { attributes: { key: earlier, returned: true } } }
}

/**
 * Returns the write that gives the token of this key back, for the transaction that removes the key; undefined if it was given back too
 * often.
 */
export async function giveBack(
  storage: Pick<Storage, 'getCompanions'>,
  token: IdToken,
  trust: Trust,
  key: string,
): Promise<Companion | undefined> {
  const { ifAbsent: _, attributes, ...record } = replayRecord(token, trust, key)
  const returns = Number((await getCompanion(storage, record))?.attributes.returns ?? 0) + 1
  if (returns > MOST_RETURNS) return undefined
  return { ...record, attributes: { ...attributes, returned: true, returns }, when: { attributes: { key } } }
}

/** Returns the error for a token that was exchanged before. */
export const replayed = (): OAuthError =>
  new OAuthError(
    'invalid_request',
    'replayed',
    'the subject token has been exchanged already: get a new one from the issuer',
  )

/** Throws if the token was exchanged once. The write of the key checks it too; this serves dry runs. */
export async function checkUnused(storage: Pick<Storage, 'getCompanions'>, token: IdToken): Promise<void> {
  if (await getCompanion(storage, { pk: partitionOf(token), sk: SORT_KEY })) throw replayed()
}
