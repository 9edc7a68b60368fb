/** What a change gives the garbage collector to do. Most changes: nothing. */
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import type { KubeObject, ObjectMeta, OwnerReference } from '../meta/types.ts'
import { forEach, OutOfTime } from '../registry/parallel.ts'
import type { RowChange } from '../storage/dynamodb/stream.ts'
import { type Collector, collectDependents, look, releaseUnblocked } from './garbagecollector.ts'
import { type Graph, isOrphaning, isUnchanged, isWaiting, ownerPlace, placeOf } from './graph.ts'

export type Task =
  /** An object of which something changed that counts; not older than `rv`. */
  | { type: 'look'; resource: string; key: string; rv: number }
  /** An object is gone, what it owned is looked at. */
  | { type: 'dependents'; uid: string }
  /** An owner that a dependent does not block any more. */
  | { type: 'unblocked'; resource: string; key: string }

/** Whether the object needs to be looked at at all, by what it is. */
export const needsCollection = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp === undefined
    ? (metadata.ownerReferences ?? []).length > 0
    : isOrphaning(metadata) || isWaiting(metadata)

const blockingOf = (object: KubeObject | undefined): readonly OwnerReference[] =>
  (object?.metadata.ownerReferences ?? []).filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)

/** Owners that the object blocked and blocks no more. */
function unblocked(graph: Graph, { before, after }: RowChange): Task[] {
  if (!before) return []
  const now = blockingOf(after)
  return blockingOf(before)
    .filter((one) => !now.some((other) => isSameOwner(one, other)))
    .flatMap((reference): Task[] => {
      const place = ownerPlace(graph, reference, before)
      return place ? [{ type: 'unblocked', resource: place.store.kind.plural, key: place.key }] : []
    })
}

/** What follows from a change: a look at the object, at what it owned, at what it blocked. */
export function tasksOf(graph: Graph, change: RowChange): Task[] {
  const { resource, key, rv, before, after } = change
  const gone = before?.metadata.uid !== after?.metadata.uid ? before?.metadata.uid : undefined
  const isNew = after !== undefined && !(before && isUnchanged(before, after))
  return [
    ...(isNew && needsCollection(after.metadata) ? [{ type: 'look', resource, key, rv } as const] : []),
    ...(gone === undefined ? [] : [{ type: 'dependents', uid: gone } as const]),
    ...unblocked(graph, change),
  ]
}

/** Equal for tasks that are one. */
export const idOf = (task: Task): string =>
  task.type === 'dependents' ? `dependents ${task.uid}` : `${task.type} ${task.resource}/${task.key}`

/** May be repeated at any time, also after it failed halfway. */
async function perform(collector: Collector, task: Task): Promise<void> {
  if (task.type === 'dependents') return collectDependents(collector, task.uid)
  const place = placeOf(collector, task)
  if (!place) return
  return task.type === 'unblocked' ? releaseUnblocked(collector, place) : look(collector, place, task.rv)
}

export interface Failure {
  task: Task
  error: unknown
}

/** Performs each once, some at once. Those that failed by their id; what there was no time for is among them. */
export async function performAll(collector: Collector, tasks: Iterable<Task>): Promise<Map<string, Failure>> {
  const distinct = new Map<string, Task>()
  for (const task of tasks) {
    const known = distinct.get(idOf(task))
    if (!known || (known.type === 'look' && task.type === 'look' && known.rv < task.rv)) distinct.set(idOf(task), task)
  }
  const failures = new Map<string, Failure>()
  await forEach(
    distinct.values(),
    () => true,
    async (task) => {
      if (!collector.hasTime()) failures.set(idOf(task), { task, error: new OutOfTime() })
      else await perform(collector, task).catch((error: unknown) => void failures.set(idOf(task), { task, error }))
    },
  )
  return failures
}
