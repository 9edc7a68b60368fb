/**
 * Runs the garbage collector on a timer: without a stream, and as a safety net beside one. It reads the change logs from its
 * last position. On the first run, and every hour, it checks all objects.
 */

import type { Deadline } from '../meta/errors/deadline.ts'
import { OutOfTime } from '../registry/parallel.ts'
import { StorageError } from '../storage/errors.ts'
import type { Change, RowChange, Storage } from '../storage/interface.ts'
import { getCompanion } from '../storage/readcompanions.ts'
import type { Collector } from './garbagecollector.ts'
import { type Failure, needsCollection, performAll, type Task, tasksOf } from './tasks.ts'

/** The least time between the starts of full passes, in ms: less than the hour of the schedule. */
const fullEvery = 50 * 60_000
/** The number of objects that one step of a full pass reads. */
const pageSize = 500
/** A failed task is retried after 1, 2, 4 … 256 s. */
const maxDoublings = 8

interface Run {
  /** Tasks that were performed. */
  tasks: number
  /** Objects that full passes read. */
  read: number
  /** Tasks that wait for a retry. */
  failed: number
  /** One of the errors. */
  error?: unknown
  /** Set if the run was out of time before the end: the next run continues. */
  remaining?: true
}

interface Retry {
  task: Task
  tries: number
  at: number
}

/** A pass over all objects. */
interface Pass {
  began: number
  /** The index of the store that the pass reads, and its last key. */
  index: number
  after?: string | undefined
  done: boolean
  /** Whether its position is stored in the table. */
  isKept: boolean
  /** Whether it continues the pass of another process. */
  isRest?: true
}

/**
 * Creates a collector. Each call processes the changes since the last one while `hasTime` returns true; concurrent calls
 * share one run. A full pass may take longer than one process lives, so a new process continues the pass of the last one. It
 * then makes a pass from the beginning, because it may have missed changes. `elapsed`: milliseconds of a monotonic clock.
 */
export function createChangelogCollector(elapsed: () => number): (collector: Collector) => Promise<Run> {
  /** The revision of each table up to which its changes have been processed. */
  const positions = new Map<string, number>()
  const retries = new Map<string, Retry>()
  let full: Pass | undefined
  let running: Promise<Run> | undefined

  /** Performs tasks. Returns false if there was no time to start all of them. */
  async function runTasks(collector: Collector, run: Run, tasks: readonly Task[]): Promise<boolean> {
    run.tasks += tasks.length
    const failures = await performAll(collector, tasks)
    for (const [id, failure] of failures) {
      postpone(id, failure)
      run.error ??= failure.error
    }
    return !failures.values().some(({ error }) => error instanceof OutOfTime)
  }

  function postpone(id: string, { task }: Failure): void {
    const tries = (retries.get(id)?.tries ?? 0) + 1
    retries.set(id, { task, tries, at: elapsed() + 1000 * 2 ** Math.min(tries - 1, maxDoublings) })
  }

  async function retry(collector: Collector, run: Run): Promise<void> {
    const due = [...retries].filter(([, { at }]) => at <= elapsed())
    await runTasks(
      collector,
      run,
      due.map(([, { task }]) => task),
    )
    for (const [id, known] of due) if (retries.get(id) === known) retries.delete(id)
  }

  /** Processes every log until it has no new changes, including those that the collector itself makes. */
  async function follow(collector: Collector, run: Run): Promise<void> {
    for (let quiet = false; !quiet && collector.hasTime(); ) {
      quiet = true
      for (const { kind } of collector.stores) {
        const since = positions.get(kind.plural)
        if (since === undefined) continue
        const batch = await collector.storage.changes(kind.table, since)
        await runTasks(
          collector,
          run,
          batch.changes.flatMap((change) => tasksOf(collector, toRowChange(kind.plural, change))),
        )
        positions.set(kind.plural, batch.rv)
        quiet &&= batch.rv === since
      }
    }
  }

  /** Begins a full pass, and follows the logs from here on. */
  async function begin({ stores, storage }: Collector): Promise<void> {
    const began = elapsed()
    for (const { kind } of stores) {
      if (!positions.has(kind.plural)) positions.set(kind.plural, await storage.revision(kind.table))
    }
    const place = full ? undefined : await readPosition(storage)
    const index = stores.findIndex(({ kind }) => kind.plural === place?.resource)
    full =
      place && index >= 0
        ? { began, index, after: place.after, done: false, isKept: true, isRest: true }
        : { began, index: 0, done: false, isKept: false }
  }

  async function step(collector: Collector, run: Run, pass: NonNullable<typeof full>): Promise<void> {
    const store = collector.stores[pass.index]
    if (!store) {
      if (pass.isKept) await savePosition(collector, undefined)
      pass.done = true
      if (pass.isRest) await begin(collector)
      return
    }
    const { table, plural: resource } = store.kind
    const { after } = pass
    const page = await collector.storage.list(table, { limit: pageSize, ...(after !== undefined && { after }) })
    run.read += page.items.length
    const found = page.items.filter((one) => needsCollection(one.read().object.metadata))
    const isLookedAt = await runTasks(
      collector,
      run,
      found.map(({ key, rv }) => ({ type: 'look', resource, key, rv })),
    )
    pass.after = page.next
    if (page.next === undefined) pass.index++
    else if (isLookedAt) {
      // Only this process remembers unfinished tasks; another process would skip them.
      await savePosition(collector, { resource, after: page.next })
      pass.isKept = true
    }
  }

  async function runOnce(collector: Collector, run: Run): Promise<void> {
    if (!full || (full.done && elapsed() - full.began >= fullEvery)) await begin(collector)
    await retry(collector, run)
    await follow(collector, run)
    for (let pass: Pass | undefined = full; pass && !pass.done && collector.hasTime(); pass = full) {
      await step(collector, run, pass)
      await follow(collector, run)
    }
    if (!full?.done) run.remaining = true
  }

  async function runAll(collector: Collector): Promise<Run> {
    const run: Run = { tasks: 0, read: 0, failed: 0 }
    try {
      await runOnce(collector, run)
    } catch (error) {
      if (!(error instanceof StorageError && error.code === 'Expired')) throw error
      // The log no longer reaches back: check all objects again.
      positions.clear()
      full = undefined
      await runOnce(collector, run)
    }
    return { ...run, failed: retries.size }
  }

  return (collector) => {
    running ??= runAll(collector).finally(() => {
      running = undefined
    })
    return running
  }
}

const toRowChange = (resource: string, { type, rv, key, stored, previous }: Change): RowChange => ({
  resource,
  key,
  rv,
  before: previous?.object,
  after: type === 'DELETED' ? undefined : stored.object,
})

interface Position {
  /** The resource that the pass reads. */
  resource: string
  /** The last key that the pass has checked. */
  after: string
}

const key = { pk: 'collector#pass', sk: '#' }

/** Returns the position of an interrupted pass, if any. */
async function readPosition(storage: Storage): Promise<Position | undefined> {
  const { resource, after } = (await getCompanion(storage, key))?.attributes ?? {}
  return typeof resource === 'string' && typeof after === 'string' ? { resource, after } : undefined
}

/** Stores a position. Undefined: the next pass starts at the beginning. */
const savePosition = async (
  { storage, deadline }: { storage: Storage; deadline: Deadline },
  position: Position | undefined,
): Promise<void> =>
  void (await storage.writeCompanion({ ...key, attributes: position ? { ...position } : {} }, { deadline }))
