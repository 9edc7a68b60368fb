/**
 * Turns changes of the log into the events of one watcher. An object that starts or stops matching the selectors is ADDED or
 * DELETED, as in kube-apiserver (storage/cacher). So is an object that the user gains or loses access to. Current permissions
 * apply to the past: after losing access, the user learns that the object is gone, but not its earlier content.
 */

import type { KubeObject } from '../../meta/types.ts'
import { defined } from '../../meta/value/defined.ts'
import type { Change, ChangeBatch, Stored } from '../../storage/interface.ts'

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: KubeObject
}

interface Watcher {
  /** Reports whether the object matches the selectors of the watch. */
  selects(stored: Stored): boolean
  /** Reports whether the user may see the object; undefined if the user may see everything. */
  may: ((stored: Stored) => boolean) | undefined
  /** Returns the latest state of an object, see `Storage.latest`. */
  latest(stored: Stored): Promise<Stored>
  /** Returns the object as responses present it. */
  shown(stored: Stored): Promise<KubeObject>
}

/** Returns a function that yields the events of each batch for one watch. It remembers earlier batches. */
export function eventsOf({ selects, may, latest, shown }: Watcher): (batch: ChangeBatch) => AsyncGenerator<WatchEvent> {
  const sees = (stored: Stored): boolean => selects(stored) && (may?.(stored) ?? true)
  /** The uids of objects without an ADDED event, because the user had lost access by then. */
  const withheld = new Set<string>()
  /** The last revision at which this watch had caught up. The user could read what existed then. */
  let present = 0

  async function* eventOf({ type, rv, stored, previous }: Change, isAllowed: boolean): AsyncGenerator<WatchEvent> {
    const { uid = '' } = stored.object.metadata
    const last = type === 'DELETED' ? stored : previous
    const wasThere = last !== undefined && sees(last)
    const isThere = type !== 'DELETED' && sees(stored)
    if (!isAllowed) {
      if (isThere && !wasThere) withheld.add(uid)
      if (isThere || !wasThere || withheld.delete(uid)) return
      const wasPresent = (previous?.rv ?? rv) <= present
      yield { type: 'DELETED', object: wasPresent ? await shown(withRevision(last, rv)) : identity(last, rv) }
      return
    }
    const isKnown = wasThere && !withheld.delete(uid)
    if (isThere) yield { type: isKnown ? 'MODIFIED' : 'ADDED', object: await shown(stored) }
    else if (isKnown) yield { type: 'DELETED', object: await shown(withRevision(last, rv)) }
  }

  return async function* (batch) {
    const newest = newestChanges(batch.changes)
    const rights = new Map<Change, boolean>()
    /** Reports whether the user may see the latest state of the object. */
    async function mayStill(last: Change): Promise<boolean> {
      const isNewest = last.type === 'DELETED' || !batch.more
      const right = rights.get(last) ?? may?.(isNewest ? last.stored : await latest(last.stored)) ?? true
      rights.set(last, right)
      return right
    }
    for (const [index, change] of batch.changes.entries()) {
      const decoded = { ...change }
      const { stored, previous } = decoded
      const isConcerned = sees(stored) || (previous !== undefined && sees(previous))
      if (isConcerned) yield* eventOf(decoded, await mayStill(newest[index] ?? change))
    }
    if (!batch.more) present = batch.rv
  }
}

/** Returns, for each change, the newest change of the same object. A recreated name is a different object. */
function newestChanges(changes: readonly Change[]): Change[] {
  const newest = new Map<string, Change>()
  const found = changes.toReversed().map((change) => {
    const last = change.type === 'DELETED' ? change : (newest.get(change.key) ?? change)
    newest.set(change.key, last)
    if (change.type === 'ADDED') newest.delete(change.key)
    return last
  })
  return found.reverse()
}

/** Sets the resourceVersion to that of the event, because clients resume a watch from it. */
const withRevision = (stored: Stored, rv: number): Stored => ({
  ...stored,
  object: { ...stored.object, metadata: { ...stored.object.metadata, resourceVersion: String(rv) } },
})

/** Returns only the fields by which clients identify an object. */
function identity({ object: { apiVersion, kind, metadata } }: Stored, rv: number): KubeObject {
  const { name, namespace, uid } = metadata
  return { apiVersion, kind, metadata: { ...defined({ name, namespace, uid }), resourceVersion: String(rv) } }
}
