/**
 * What changes of the log are to one watcher. Labels and fields make events at their edges, as in kube-apiserver
 * (storage/cacher); so does access. Present rights decide about the past: who may no longer see an object is told that it
 * is gone, and nothing of what it was.
 */
import type { KubeObject } from '../../meta/types.ts'
import type { Change, ChangeBatch, Stored } from '../../storage/interface.ts'

export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  object: KubeObject
}

export interface Watcher {
  /** Whether the watch asks for the object. */
  selects(stored: Stored): boolean
  /** Whether its user may see the object; undefined where they may see everything. */
  may: ((stored: Stored) => boolean) | undefined
  /** What has become of an object that was like this, see `Storage.latest`. */
  latest(stored: Stored): Promise<Stored>
  /** The object as answers show it. */
  shown(stored: Stored): KubeObject
}

/** The events of one watch, batch after batch. */
export function eventsOf({ selects, may, latest, shown }: Watcher): (batch: ChangeBatch) => AsyncGenerator<WatchEvent> {
  const sees = (stored: Stored): boolean => selects(stored) && (may?.(stored) ?? true)
  /** The objects that the watcher has not been told of, by uid: they could not see them any more when that would have been. */
  const withheld = new Set<string>()
  /** The last revision that was the newest when this watch got there: what was there then could be seen then. */
  let present = 0

  function* eventOf({ type, rv, stored, previous }: Change, isAllowed: boolean): Generator<WatchEvent> {
    const { uid = '' } = stored.object.metadata
    const last = type === 'DELETED' ? stored : previous
    const wasThere = last !== undefined && sees(last)
    const isThere = type !== 'DELETED' && sees(stored)
    if (!isAllowed) {
      if (isThere && !wasThere) withheld.add(uid)
      if (isThere || !wasThere || withheld.delete(uid)) return
      const wasPresent = (previous?.rv ?? rv) <= present
      yield { type: 'DELETED', object: wasPresent ? shown(stamped(last, rv)) : identity(last, rv) }
      return
    }
    const isKnown = wasThere && !withheld.delete(uid)
    if (isThere) yield { type: isKnown ? 'MODIFIED' : 'ADDED', object: shown(stored) }
    else if (isKnown) yield { type: 'DELETED', object: shown(stamped(last, rv)) }
  }

  return async function* (batch) {
    const newest = newestChanges(batch.changes)
    const rights = new Map<Change, boolean>()
    /** Whether the watcher may see what has become of the object by now. */
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

/** For each change the newest one of the same object; a name that is created anew is another object. */
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

/** Clients resume from the resourceVersion of the object, so it must be the one of the event. */
const stamped = (stored: Stored, rv: number): Stored => ({
  ...stored,
  object: { ...stored.object, metadata: { ...stored.object.metadata, resourceVersion: String(rv) } },
})

/** What clients forget an object by. */
function identity({ object: { apiVersion, kind, metadata } }: Stored, rv: number): KubeObject {
  const { name, namespace, uid } = metadata
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      resourceVersion: String(rv),
    },
  }
}
