/** Runs the garbage collector on the table's stream. */
import type { DynamoDBRecord } from 'aws-lambda'
import { rowChange } from '../storage/dynamodb/stream.ts'
import type { Collector } from './garbagecollector.ts'
import { performAll, type Task, taskId, tasksOf } from './tasks.ts'

export interface Collected {
  /** The number of tasks from the records. */
  tasks: number
  /** The sequence numbers of the records to deliver again, in stream order. */
  failed: string[]
  /** One of the errors. */
  error: unknown
}

/** Performs the tasks of the records. A record is done once all its tasks are done; until then it is delivered again. */
export async function collectStream(collector: Collector, records: readonly DynamoDBRecord[]): Promise<Collected> {
  const resources = collector.stores.map(({ kind }) => kind.plural)
  const unreadable = new Map<DynamoDBRecord, unknown>()
  const tasks = new Map<DynamoDBRecord, Task[]>()
  for (const record of records) {
    try {
      const change = rowChange(resources, record.dynamodb ?? {})
      if (change) tasks.set(record, tasksOf(collector, change))
    } catch (error) {
      unreadable.set(record, error)
    }
  }
  const all = [...tasks.values()].flat()
  const failures = await performAll(collector, all)
  const isFailed = (record: DynamoDBRecord): boolean =>
    unreadable.has(record) || tasks.get(record)?.some((task) => failures.has(taskId(task))) === true
  return {
    tasks: all.length,
    failed: records.filter(isFailed).map(({ dynamodb }) => dynamodb?.SequenceNumber ?? ''),
    error: [...unreadable.values(), ...[...failures.values()].map(({ error }) => error)][0],
  }
}
