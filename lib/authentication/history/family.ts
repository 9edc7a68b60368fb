/**
 * Builds the items that say which keys a key made. They follow from the rows of those keys, and go with them. Names find them: that
 * of the maker stays known when it is gone.
 *
 *     pk=made#NAME-OF-THE-MAKER sk=8204742399#UID name=ci at=1795257600 maker=UID-OF-THE-MAKER
 *
 * They are written after the keys. The position in the change log says up to which revision none is missing.
 */
import type { CompanionItem, Stored } from '../../storage/interface.ts'
import { decodeKeyInternal } from '../keyinternal.ts'
import { lifeOfStored } from '../keystatus.ts'
import { newestFirst } from './items.ts'
import { madePartition } from './since.ts'

/** Returns the item of a key that another key made, or undefined. */
export function madeItem(stored: Stored): CompanionItem | undefined {
  const { ancestors, maker: by } = decodeKeyInternal(stored.internal)
  const maker = ancestors?.at(-1)
  const { name = '', uid = '' } = stored.object.metadata
  if (maker === undefined || by === undefined) return undefined
  const { created: at } = lifeOfStored(stored)
  return { pk: madePartition(by), sk: `${newestFirst(at)}#${uid}`, attributes: { name, uid, at, maker } }
}
