/** Makes the handlers of the controllers: the garbage collector and the expiry sweep. Each run writes one log line. */

import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda'
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import { storedKinds } from '../apis/stored.ts'
import { createChangelogCollector } from '../controllers/changelog.ts'
import { sweepExpired } from '../controllers/expirysweep.ts'
import type { Collector } from '../controllers/garbagecollector.ts'
import { collectStream } from '../controllers/streamrecords.ts'
import { streamedWrite } from '../storage/dynamodb/stream.ts'
import { describeError } from './process/logger.ts'
import type { Measured } from './process/metrics.ts'
import { createServer, type Server } from './server.ts'

/** Time reserved at the end of an invocation to finish work in progress and to write the result. */
const reserveMs = 20_000

type Invocation = Pick<Context, 'getRemainingTimeInMillis'>

/** Maximum number of deletions per invocation. The next invocation continues. */
const maxDeletions = 5_000

const timeOf = (context: Invocation) => () => context.getRemainingTimeInMillis() > reserveMs

const deadlineOf = (context: Invocation) => () => context.getRemainingTimeInMillis()

function collectorOf(server: Server, context: Invocation) {
  const wrote = { deleted: 0, unlinked: 0, released: 0 }
  const collector: Collector = {
    stores: storedKinds.map((kind) => server.storeOf(kind)),
    storage: server.storage,
    now: server.now,
    hasTime: timeOf(context),
    deadline: deadlineOf(context),
    wrote: (what) => {
      wrote[what]++
    },
  }
  return { collector, wrote }
}

const collectorMetrics = (tasks: number, failed: number, { deleted }: { deleted: number }): Measured[] => [
  { values: { collectionTasks: tasks, collectionDeleted: deleted, collectionFailed: failed } },
]

const errorOf = (error: unknown) => (error === undefined ? {} : { error: describeError(error) })

/**
 * Returns the handler of the garbage collector. The stream of the table invokes it with changes. On a schedule it reads
 * the change logs itself, and all objects in its first run and then every hour. Without a stream, a schedule of seconds
 * does the same work.
 */
export function garbageCollectorHandler() {
  const server = createServer(process.env)
  const collectChangelog = createChangelogCollector(server.elapsed)
  return async (
    event: Partial<DynamoDBStreamEvent>,
    context: Invocation,
  ): Promise<DynamoDBBatchResponse | undefined> => {
    const { collector, wrote } = collectorOf(server, context)
    if (event.Records) {
      const { tasks, failed, error } = await collectStream(collector, event.Records.map(streamedWrite))
      const counts = { source: 'stream', records: event.Records.length, tasks, failed: failed.length, ...wrote }
      const measured = collectorMetrics(tasks, failed.length, wrote)
      server.log(
        error === undefined ? 'info' : 'error',
        'garbage collection',
        { ...counts, ...errorOf(error) },
        measured,
      )
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) }
    }
    const { error, ...run } = await collectChangelog(collector)
    // On a schedule of seconds most runs find nothing, so they log nothing.
    if (run.tasks === 0 && run.read === 0 && error === undefined) return undefined
    const counts = { source: 'schedule', ...run, ...wrote }
    const measured = collectorMetrics(run.tasks, run.failed, wrote)
    server.log(error === undefined ? 'info' : 'error', 'garbage collection', { ...counts, ...errorOf(error) }, measured)
    return undefined
  }
}

/** Returns the handler that deletes access keys after their retention time. */
export function sweepHandler() {
  const server = createServer(process.env)
  return async (_event: unknown, context: Invocation): Promise<void> => {
    const { error, ...swept } = await sweepExpired({
      store: server.storeOf(OwnedAccessKey),
      storage: server.storage,
      now: server.now,
      retentionSeconds: {
        exchanged: server.config.federatedKeyRetentionSeconds,
        others: server.config.keyRetentionSeconds,
      },
      limits: server.limits,
      hasTime: timeOf(context),
      deadline: deadlineOf(context),
      maxDeletions,
    })
    const { seen, deleted, failed } = swept
    server.log(error === undefined ? 'info' : 'error', 'expiry sweep', { ...swept, ...errorOf(error) }, [
      { values: { sweepSeen: seen, sweepDeleted: deleted, sweepFailed: failed } },
    ])
  }
}
