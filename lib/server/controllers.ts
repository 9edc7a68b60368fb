/** Makes the handlers of the controllers: the garbage collector and the expiry sweep. Each run writes one log line. */

import type { Context } from 'aws-lambda'
import { changesIn } from '#store-driver'
import { internalContext } from '../access/users/internalcontext.ts'
import { Namespace, namespaceObject } from '../clusters/namespace.ts'
import { createChangelogCollector } from '../engine/controllers/changelog.ts'
import type { Collector } from '../engine/controllers/garbagecollector.ts'
import { collectStream } from '../engine/controllers/streamrecords.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import type { ChangesIn } from '../engine/storage/driver.ts'
import { sweepExpired } from '../keys/expirysweep.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import { CustomResourceDefinition } from './documents/customresourcedefinition.ts'
import type { LogFields } from './process/logger.ts'
import type { Measured } from './process/metrics.ts'
import { createServer, type Server } from './server.ts'
import { storedKinds } from './storedkinds.ts'

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
    unstored: [
      { kind: Namespace, uidOf: (name) => namespaceObject(name, server.config.issuer).metadata.uid ?? '' },
      { kind: CustomResourceDefinition },
    ],
    hasTime: timeOf(context),
    deadline: deadlineOf(context),
    contextOf: (user) => internalContext(user, server.now(), deadlineOf(context)),
    wrote: (what) => {
      wrote[what]++
    },
  }
  return { collector, wrote }
}

/** Writes the log line of a run, with metrics. */
const report = (
  { log }: Server,
  message: string,
  { error, ...counts }: { error?: unknown },
  values: Measured['values'],
): void => {
  const failure = error === undefined ? {} : { error: describeError(error) }
  log(error === undefined ? 'info' : 'error', message, { ...counts, ...failure }, [{ values }])
}

/**
 * Returns the handler of the garbage collector. The stream of the table invokes it with changes. On a schedule it reads
 * the change logs itself, and all objects in its first run and then every hour. Without a stream, a schedule of seconds
 * does the same work.
 */
export function garbageCollectorHandler(streamed: ChangesIn = changesIn) {
  const server = createServer(process.env)
  const collectChangelog = createChangelogCollector(server.elapsed)
  return async (
    event: object,
    context: Invocation,
  ): Promise<{ batchItemFailures: { itemIdentifier: string }[] } | undefined> => {
    const { collector, wrote } = collectorOf(server, context)
    const collected = (run: { tasks: number; failed: number; error?: unknown }, facts: LogFields) =>
      report(
        server,
        'garbage collection',
        { ...facts, ...run, ...wrote },
        {
          collectionTasks: run.tasks,
          collectionDeleted: wrote.deleted,
          collectionFailed: run.failed,
        },
      )
    const records = streamed(event)
    if (records) {
      const { failed, ...run } = await collectStream(collector, records)
      collected({ ...run, failed: failed.length }, { source: 'stream', records: records.length })
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) }
    }
    const run = await collectChangelog(collector)
    // On a schedule of seconds most runs find nothing, so they log nothing.
    if (run.tasks > 0 || run.read > 0 || run.error !== undefined) collected(run, { source: 'schedule' })
    return undefined
  }
}

/** Returns the handler that deletes access keys after their retention time. */
export function sweepHandler() {
  const server = createServer(process.env)
  return async (_event: unknown, context: Invocation): Promise<void> => {
    const swept = await sweepExpired({
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
    report(server, 'expiry sweep', swept, { sweepSeen: seen, sweepDeleted: deleted, sweepFailed: failed })
  }
}
