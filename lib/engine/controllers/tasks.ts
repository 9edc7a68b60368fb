/** Derives the tasks of the garbage collector from changes, and performs them. Most changes need none. */
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { forEach, OutOfTime } from '../registry/parallel.ts'
import type { RowChange } from '../storage/interface.ts'
import { type Collector, checkObject, collectDependents, releaseUnblocked } from './garbagecollector.ts'
import { dependentKey, type Graph, isOrphaning, isUnchanged, isWaiting, ownerKey } from './graph.ts'

export type Task =
  /** A relevant part of an object has changed: check the object, not older than `rv`. */
  | { type: 'look'; resource: string; key: string; rv: number }
  /** An object is gone: check its dependents. */
  | { type: 'dependents'; uid: string }
  /** A dependent no longer blocks this owner. */
  | { type: 'unblocked'; resource: string; key: string }

/** Reports whether an object with this metadata needs the garbage collector at all. */
export const needsCollection = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp === undefined
    ? (metadata.ownerReferences ?? []).length > 0
    : isOrphaning(metadata) || isWaiting(metadata)

const blockingOf = (object: KubeObject | undefined): readonly OwnerReference[] =>
  (object?.metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)

/** Returns tasks for the owners that the object no longer blocks. */
function unblockedOwners(graph: Graph, { before, after }: RowChange): Task[] {
  if (!before) return []
  const now = blockingOf(after)
  return blockingOf(before)
    .filter((one) => !now.some((other) => isSameOwner(one, other)))
    .flatMap((reference): Task[] => {
      const place = ownerKey(graph, reference, before)
      return place ? [{ type: 'unblocked', resource: place.store.kind.plural, key: place.key }] : []
    })
}

/** Returns the tasks of a change: check the object, its dependents, and the owners that it blocked. */
export function tasksOf(graph: Graph, change: RowChange): Task[] {
  const { resource, key, rv, before, after } = change
  const gone = before?.metadata.uid !== after?.metadata.uid ? before?.metadata.uid : undefined
  const isNew = after !== undefined && !(before && isUnchanged(before, after))
  return [
    ...(isNew && needsCollection(after.metadata) ? [{ type: 'look', resource, key, rv } as const] : []),
    ...(gone === undefined ? [] : [{ type: 'dependents', uid: gone } as const]),
    ...unblockedOwners(graph, change),
  ]
}

/** Returns an id that is equal for duplicate tasks. */
export const taskId = (task: Task): string =>
  task.type === 'dependents' ? `dependents ${task.uid}` : `${task.type} ${task.resource}/${task.key}`

/** Performs a task. Tasks can be repeated at any time, also after a partial failure. */
async function perform(collector: Collector, task: Task): Promise<void> {
  if (task.type === 'dependents') return collectDependents(collector, task.uid)
  const place = dependentKey(collector, task)
  if (!place) return
  return task.type === 'unblocked' ? releaseUnblocked(collector, place) : checkObject(collector, place, task.rv)
}

export interface Failure {
  task: Task
  error: unknown
}

/** Performs each distinct task, some in parallel. Returns the failures by id, including tasks that there was no time for. */
export async function performAll(collector: Collector, tasks: Iterable<Task>): Promise<Map<string, Failure>> {
  const distinct = new Map<string, Task>()
  for (const task of tasks) {
    const known = distinct.get(taskId(task))
    if (!known || (known.type === 'look' && task.type === 'look' && known.rv < task.rv))
      distinct.set(taskId(task), task)
  }
  const failures = new Map<string, Failure>()
  await forEach(
    distinct.values(),
    () => true,
    async (task) => {
      if (!collector.hasTime()) failures.set(taskId(task), { task, error: new OutOfTime() })
      else await perform(collector, task).catch((error: unknown) => void failures.set(taskId(task), { task, error }))
    },
  )
  return failures
}
