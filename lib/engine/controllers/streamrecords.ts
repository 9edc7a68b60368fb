/** Runs the garbage collector on the stream of the store. */
import type { StreamedWrite } from '../storage/interface.ts'
import type { Collector } from './garbagecollector.ts'
import { performAll, type Task, taskId, tasksOf } from './tasks.ts'

export interface Collected {
  /** The number of tasks from the records. */
  tasks: number
  /** The ids of the records to deliver again, in stream order. */
  failed: string[]
  /** One of the errors. */
  error: unknown
}

/** Performs the tasks of the records. A record is done once all its tasks are done; until then it is delivered again. */
export async function collectStream(collector: Collector, records: readonly StreamedWrite[]): Promise<Collected> {
  const resources = collector.stores.map(({ kind }) => kind.plural)
  const unreadable = new Map<StreamedWrite, unknown>()
  const tasks = new Map<StreamedWrite, Task[]>()
  for (const record of records) {
    try {
      const change = record.read(resources)
      if (change) tasks.set(record, tasksOf(collector, change))
    } catch (error) {
      unreadable.set(record, error)
    }
  }
  const all = [...tasks.values()].flat()
  const failures = await performAll(collector, all)
  const isFailed = (record: StreamedWrite): boolean =>
    unreadable.has(record) || tasks.get(record)?.some((task) => failures.has(taskId(task))) === true
  return {
    tasks: all.length,
    failed: records.filter(isFailed).map(({ id }) => id),
    error: [...unreadable.values(), ...[...failures.values()].map(({ error }) => error)][0],
  }
}
