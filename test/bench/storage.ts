/** Measures lib/storage on an emulator of DynamoDB: the speed, and the calls and capacity units of operations. */
import { setTimeout as delay } from 'node:timers/promises'
import { type Swept, sweepExpired } from '../../lib/controllers/expirysweep.ts'
import { watchPace } from '../../lib/endpoints/watches/pace.ts'
import { deleteObject } from '../../lib/registry/delete.ts'
import { getObject } from '../../lib/registry/read.ts'
import { updateObject } from '../../lib/registry/update.ts'
import type { Mutate, Table } from '../../lib/storage/interface.ts'
import { copyKey, rowsIn } from '../support/copies.ts'
import { endless, unhurried } from '../support/deadlines.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, contextOf } from '../support/users.ts'
import { accessKey, createKey, unique } from './access.ts'
import { measureCalls, median, quantile, timeRun } from './measure.ts'
import { during } from './meter.ts'
import { costs, keysOf, perCall, storageOf } from './meteredstore.ts'
import { table } from './print.ts'
import { cpuDuring } from './processes.ts'

const tableOf = (resource: string): Table => ({ resource, partitions: () => [], activity: false })

/** Returns an object of about 1 KB, different in each turn. */
const putting =
  (name: string, turn: number): Mutate =>
  () => {
    const { metadata, spec, ...rest } = accessKey(name)
    return {
      type: 'put',
      object: { ...rest, metadata: { ...metadata, uid: name }, spec: { ...spec, turn } },
      internal: {},
    }
  }

async function writers(deployment: TestDeployment, { seconds }: StorageOptions): Promise<void> {
  const rows: (string | number)[][] = []
  for (const count of [1, 16, 64]) {
    const { storage, meter } = storageOf(deployment)
    const writes: Record<string, (writer: number, turn: number) => Promise<unknown>> = {
      create(writer, turn) {
        const name = unique()
        return storage.update(tableOf(`creates${count}`), `${writer}-${name}`, putting(name, turn), {
          ...unhurried,
          isNew: true,
        })
      },
      'update of own objects': (writer, turn) =>
        storage.update(tableOf(`updates${count}`), `own-${writer}`, putting(`own-${writer}`, turn), unhurried),
    }
    for (const [name, write] of Object.entries(writes)) {
      await measureCalls(count, 0.3, write)
      let run = { calls: 0, rate: 0, p50: 0, p99: 0 }
      const cost = await during(meter, async () => {
        run = await measureCalls(count, seconds, write)
      })
      rows.push([name, String(count), run.rate, run.p50, run.p99, ...perCall(cost, run.calls)])
    }
  }
  table('Writes of one kind, 1 KB objects', ['operation', 'writers', 'writes/s', 'p50 ms', 'p99 ms', ...costs], rows)
}

const page = 500

async function lists(deployment: TestDeployment, { rounds, objects }: StorageOptions): Promise<void> {
  const { store, meter, place } = keysOf(deployment)
  const { storage, kind } = store
  await createKey(store, 'bench-list')
  await copyKey(rowsIn(place), 'bench-list', objects - 1)
  await storage.sweep(kind.table)
  const whole: number[] = []
  const pages: number[] = []
  let count = 0
  const cost = await during(meter, async () => {
    for (let round = 0; round < rounds; round++) {
      const began = performance.now()
      let after: { after?: string; at?: number } = {}
      for (;;) {
        const start = performance.now()
        const { items, next, rv } = await storage.list(kind.table, { limit: page, ...after })
        for (const one of items) one.read()
        pages.push(performance.now() - start)
        count += items.length
        if (next === undefined) break
        after = { after: next, at: rv }
      }
      whole.push(performance.now() - began)
    }
  })
  if (count !== objects * rounds) throw new Error(`${count} objects were listed`)
  table(
    `List of ${objects.toLocaleString('en')} access keys of 1 KB in pages of ${page}`,
    ['whole s', 'page p50 ms', 'page p99 ms', ...costs.map((one) => `${one} per page`)],
    [[median(whole) / 1000, quantile(pages, 0.5), quantile(pages, 0.99), ...perCall(cost, pages.length)]],
  )
}

/** Measures the time from the start and from the acknowledgement of a write to its delivery to a watch. */
async function watchDelay(deployment: TestDeployment): Promise<void> {
  const { storage } = storageOf(deployment)
  const { storage: watched, meter } = storageOf(deployment)
  const kind = tableOf('watched')
  await storage.update(kind, 'first', putting('first', 0), { ...unhurried, isNew: true })
  const started = new Map<string, number>()
  const acknowledged = new Map<string, number>()
  const delivered = new Map<string, number>()
  const writes = 60
  const meanMs = 300
  const newest = await watched.revision(kind)
  const watch = async (): Promise<void> => {
    const pace = watchPace(performance.now())
    for (let rv = newest; delivered.size < writes; await delay(pace.wait(performance.now()))) {
      const batch = await watched.changes(kind, rv)
      for (const { key } of batch.changes) delivered.set(key, performance.now())
      if (batch.changes.length > 0) pace.sent(performance.now())
      rv = batch.rv
    }
  }
  const began = performance.now()
  const watching = during(meter, watch)
  for (let index = 0; index < writes; index++) {
    const name = `object-${index}`
    started.set(name, performance.now())
    await storage.update(kind, name, putting(name, 0), { ...unhurried, isNew: true })
    acknowledged.set(name, performance.now())
    await delay(Math.random() * 2 * meanMs)
  }
  const busy = await watching
  const seconds = (performance.now() - began) / 1000
  const delaysSince = (from: ReadonlyMap<string, number>): number[] =>
    [...delivered].map(([name, at]) => at - (from.get(name) ?? Number.NaN))
  const rows = Object.entries({
    'begin of the write': delaysSince(started),
    acknowledgement: delaysSince(acknowledged),
  }).map(([name, times]) => [name, quantile(times, 0.5), quantile(times, 0.99)])
  table(`Watch delivery of ${writes} changes, one every ${meanMs} ms`, ['since', 'p50 ms', 'p99 ms'], rows)
  const rv = await watched.revision(kind)
  const idle = await during(meter, () => watched.changes(kind, rv))
  table(
    'Reads of this watch',
    ['of', ...costs],
    [
      ['a second with changes', ...perCall(busy, seconds)],
      ['a poll without changes', ...perCall(idle, 1)],
    ],
  )
}

const day = 86_400_000
const retentionSeconds = 7 * 86_400
/** The deployed settings for one invocation. */
const maxDeletions = 5000

/** Expires a hundredth and a tenth as many keys as remain. The reads must depend on the expired keys, not on the others. */
async function sweeps(deployment: TestDeployment, { objects }: StorageOptions): Promise<void> {
  const { store, meter, place } = keysOf(deployment)
  const rows: number[][] = []
  const make = async (name: string, count: number, now = new Date()): Promise<void> => {
    await createKey(store, name, now)
    await copyKey(rowsIn(place), name, count - 1)
  }
  await make('bench-living', objects)
  for (const dead of [objects / 1000, objects / 100, objects / 10].filter((one) => one >= 10)) {
    await make(`bench-dead-${dead}`, dead, new Date(Date.now() - 60 * day))
    const runs: Swept[] = []
    let took = 0
    let cpu = { total: 0, store: 0 }
    const sweepAll = async (): Promise<void> => {
      for (let remaining = true; remaining; ) {
        const swept = await sweepExpired({
          store,
          storage: store.storage,
          now: () => new Date(),
          retentionSeconds: { exchanged: retentionSeconds, others: retentionSeconds },
          limits: {},
          hasTime: () => true,
          deadline: endless,
          maxDeletions,
        })
        runs.push(swept)
        remaining = swept.remaining
      }
    }
    const cost = await during(meter, async () => {
      took = await timeRun(async () => {
        cpu = await cpuDuring([process.pid], sweepAll)
      })
    })
    const deleted = runs.reduce((sum, one) => sum + one.deleted, 0)
    if (deleted !== dead) throw new Error(`${deleted} of ${dead} dead keys were deleted`)
    const seconds = took / 1000
    rows.push([dead, runs.length, seconds, dead / seconds, cpu.total / dead, cpu.store / dead, ...perCall(cost, dead)])
  }
  table(
    `Sweep of dead keys among ${objects.toLocaleString('en')} living ones, at most ${maxDeletions} an invocation`,
    [
      'dead keys',
      'invocations',
      'seconds',
      'keys/s',
      'CPU ms per key',
      'of it store',
      ...costs.map((one) => `${one} per key`),
    ],
    rows,
  )
}

const samples = 64

/** Measures the costs of operations on access keys, one at a time. */
async function costsOfKeys(deployment: TestDeployment): Promise<void> {
  const { store, meter, authenticate } = keysOf(deployment)
  const names = Array.from({ length: samples }, unique)
  const keys = new Map<string, string>()
  const context = contextOf(admin)
  const place = (name: string) => ({ namespace: '', name })
  const operations: Record<string, (name: string) => Promise<unknown>> = {
    create: async (name) => keys.set(name, await createKey(store, name)),
    authenticate: (name) => authenticate(keys.get(name) ?? ''),
    get: (name) => getObject(store, { ...place(name), subresource: '' }, context),
    'update, patch, apply': (name) =>
      updateObject(
        store,
        {
          ...place(name),
          subresource: '',
          verb: 'patch',
          transform: (live) => ({ object: { ...live, spec: { ...live.spec, description: 'another' } }, secrets: [] }),
        },
        context,
      ),
    delete: (name) => deleteObject(store, place(name), {}, context),
  }
  const rows: (string | number)[][] = []
  for (const [name, operation] of Object.entries(operations)) {
    const times: number[] = []
    const cost = await during(meter, async () => {
      for (const one of names) times.push(await timeRun(() => operation(one)))
    })
    rows.push([name, median(times), ...perCall(cost, samples)])
  }
  table('Operations of access keys of 1 KB, one after another', ['operation', 'p50 ms', ...costs], rows)
}

export interface StorageOptions {
  /** The duration of each measurement of writers. */
  seconds: number
  /** The number of lists. */
  rounds: number
  /** Objects to list, which also exist beside the expired ones of the sweep. */
  objects: number
  /** One of `storageParts`, or all when absent. */
  only?: string | undefined
}

const parts: Readonly<Record<string, (deployment: TestDeployment, options: StorageOptions) => Promise<void>>> = {
  writers,
  lists,
  watch: watchDelay,
  keys: costsOfKeys,
  sweep: sweeps,
}

/** The values of `only`. */
export const storageParts: readonly string[] = Object.keys(parts)

export async function benchStorage(options: StorageOptions): Promise<void> {
  for (const name of storageParts.filter((one) => (options.only ?? one) === one)) {
    const deployment = await startDeployment('https://bench.invalid')
    await parts[name]?.(deployment, options).finally(() => deployment.stop())
  }
}
