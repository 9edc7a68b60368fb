/**
 * The garbage collector on a timer, where no stream calls it and to be sure where one does: it reads the change logs from
 * where it last was. At first, and every hour, it looks at all objects.
 */

import { OutOfTime } from '../registry/parallel.ts'
import type { RowChange } from '../storage/dynamodb/stream.ts'
import { StorageError } from '../storage/errors.ts'
import type { Change } from '../storage/interface.ts'
import type { Collector } from './garbagecollector.ts'
import { parsePlace, savePosition } from './position.ts'
import { type Failure, needsCollection, performAll, type Task, tasksOf } from './tasks.ts'

/** Full passes begin so far apart at least, in ms: somewhat less than the hour of the schedule. */
const fullEvery = 50 * 60_000
/** Objects that one step of a full pass reads. */
const pageSize = 500
/** A failed task is tried again after 1, 2, 4 … 256 s. */
const maxDoublings = 8

export interface Run {
  /** Tasks that were performed. */
  tasks: number
  /** Objects that full passes read. */
  read: number
  /** Tasks that wait for another try. */
  failed: number
  /** One of the errors. */
  error?: unknown
  /** Set where the time ended before the work did: the next run continues. */
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
  /** The store that is being read, and the last key that was. */
  index: number
  after?: string | undefined
  done: boolean
  /** Its place is in the table. */
  isKept: boolean
  /** It began where another one was. */
  isRest?: true
}

/**
 * One collector on a timer: each call does what there is to do since the last, as long as `hasTime` says so. Calls while one
 * is at work join it. A new one goes on with the pass over all objects where the last one was, since a pass may take more than
 * all the time that one process is given, and then makes one from the beginning: it does not know what it has missed.
 * `elapsed`: milliseconds of a clock that never jumps.
 */
export function createChangelogCollector(elapsed: () => number): (collector: Collector) => Promise<Run> {
  /** The revision of each table up to which its changes have become tasks. */
  const positions = new Map<string, number>()
  const retries = new Map<string, Retry>()
  let full: Pass | undefined
  let running: Promise<Run> | undefined

  /** False where the time was up before all were begun. */
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

  /** Reads on in every log, until nothing follows: what is done here shows there too. */
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

  /** Begins a full pass; changes are followed from here on. */
  async function begin({ stores, storage }: Collector): Promise<void> {
    const began = elapsed()
    for (const { kind } of stores) {
      if (!positions.has(kind.plural)) positions.set(kind.plural, await storage.revision(kind.table))
    }
    const place = full ? undefined : await parsePlace(storage)
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
      // What there was no time for this process remembers, another one would pass over.
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
      // A log that no longer reaches back: everything is looked at again, now.
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
