/**
 * Tells watches of keys that have expired. The phase of a key is computed on each read, so an expiry alone changes no row, and a
 * watch would show the key as Active for ever. A write of the row gives it a new resourceVersion and changes nothing that users see.
 */

import { authorOf } from '../../access/users/author.ts'
import { internalContext } from '../../access/users/internalcontext.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { forEach } from '../../engine/registry/parallel.ts'
import { objectKey } from '../../engine/registry/store.ts'
import type { CompanionItem, Mutation, Stored } from '../../engine/storage/interface.ts'
import { EXPIRY_INDEX } from '../credential/expiryindex.ts'
import { decodeKeyInternal, encodeKeyInternal } from '../credential/keyinternal.ts'
import { keyStatus, lifeOfStored } from '../credential/keystatus.ts'
import { indexEntries, type Window } from '../indexpages.ts'
import type { Lifecycle } from './lifecycle.ts'

type Deps = Pick<Lifecycle, 'store' | 'storage' | 'limits' | 'now' | 'hasTime' | 'deadline'>

/**
 * Writes the keys that expired in the window, each once for each expiry. Leaves out those of exchanges, of which a deletion
 * tells soon. Returns how many index entries it has seen. Throws OutOfTime.
 */
export async function touchExpired(life: Deps, window: Window): Promise<number> {
  let seen = 0
  for await (const entries of indexEntries(life, EXPIRY_INDEX.value, window)) {
    seen += entries.length
    await forEach(entries, life.hasTime, (entry) => touch(life, entry))
  }
  return seen
}

/** The index may be stale, so the key itself decides. Its row also says whether an earlier run has touched it. */
async function touch({ store, storage, limits, now, deadline }: Deps, { attributes }: CompanionItem): Promise<void> {
  const by = authorOf(internalContext('system:controller:lifecycle', now(), deadline))
  const write = (live: Stored | undefined): Mutation => {
    if (live === undefined || live.object.metadata.uid !== attributes.uid) return { type: 'none' }
    const { state, expires } = keyStatus(lifeOfStored(live), unixSeconds(now()), limits)
    const internal = decodeKeyInternal(live.internal)
    if (state !== 'Expired' || expires === undefined || internal.touchedExpiry === expires) return { type: 'none' }
    const touched = encodeKeyInternal({ ...internal, touchedExpiry: expires })
    return { type: 'put', object: live.object, internal: touched, reserve: true }
  }
  await storage.update(store.kind.table, objectKey('', String(attributes.name)), write, { deadline, by })
}
