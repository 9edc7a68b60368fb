/** lib/storage over the embedded DynamoDB: how fast, and what an operation costs in calls and capacity units. */
import { setTimeout as delay } from 'node:timers/promises'
import { OwnedAccessKey } from '../../lib/apis/management/v1/ownedaccesskey.ts'
import { authenticate } from '../../lib/authentication/authenticate.ts'
import { sweepExpired } from '../../lib/controllers/expirysweep.ts'
import { remove } from '../../lib/registry/delete.ts'
import { get } from '../../lib/registry/read.ts'
import type { Store } from '../../lib/registry/store.ts'
import { update } from '../../lib/registry/update.ts'
import { authenticationDeps } from '../../lib/server/authentication.ts'
import { createStorage } from '../../lib/storage/dynamodb.ts'
import type { Mutate, Storage, Table } from '../../lib/storage/interface.ts'
import { startDeployment, type TestDeployment } from '../support/deployment.ts'
import { admin, contextOf } from '../support/users.ts'
import { accessKey, createKey, unique } from './access.ts'
import { median, once, quantile, spread, timed } from './measure.ts'
import { during, type Meter, metered } from './metered.ts'
import { table } from './print.ts'

const tableOf = (resource: string): Table => ({ resource, partitions: () => [], activity: false })

/** An object of about 1 KB, another one at each turn. */
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

function storageOf({ dynamodb }: TestDeployment): { storage: Storage; meter: Meter } {
  const client = dynamodb.connect()
  const storage = createStorage({
    client,
    table: dynamodb.table,
    now: Date.now,
    elapsed: () => performance.now(),
    random: Math.random,
    sleep: (ms) => delay(ms),
  })
  return { storage, meter: metered(client) }
}

const perCall = ({ calls, readUnits, writeUnits }: Meter, count: number): number[] => [
  calls / count,
  readUnits / count,
  writeUnits / count,
]
const costs = ['calls', 'read units', 'write units']

async function writers(deployment: TestDeployment, seconds: number): Promise<void> {
  const rows: (string | number)[][] = []
  for (const count of [1, 16, 64]) {
    const { storage, meter } = storageOf(deployment)
    const writes: Record<string, (writer: number, turn: number) => Promise<unknown>> = {
      create(writer, turn) {
        const name = unique()
        return storage.create(tableOf(`creates${count}`), `${writer}-${name}`, putting(name, turn))
      },
      'update of own objects': (writer, turn) =>
        storage.update(tableOf(`updates${count}`), `own-${writer}`, putting(`own-${writer}`, turn)),
    }
    for (const [name, write] of Object.entries(writes)) {
      await timed(count, 0.3, write)
      let run = { calls: 0, rate: 0, p50: 0, p99: 0 }
      const cost = await during(meter, async () => {
        run = await timed(count, seconds, write)
      })
      rows.push([name, String(count), run.rate, run.p50, run.p99, ...perCall(cost, run.calls)])
    }
  }
  table('Writes of one kind, 1 KB objects', ['operation', 'writers', 'writes/s', 'p50 ms', 'p99 ms', ...costs], rows)
}

const page = 500

async function lists(deployment: TestDeployment, rounds: number, listed: number): Promise<void> {
  const { storage, meter } = storageOf(deployment)
  const kind = tableOf('lists')
  await spread(listed, 32, (index) => storage.create(kind, `object-${index}`, putting(`object-${index}`, 0)))
  await storage.sweep(kind)
  const whole: number[] = []
  const pages: number[] = []
  let count = 0
  const cost = await during(meter, async () => {
    for (let round = 0; round < rounds; round++) {
      const began = performance.now()
      let after: { after?: string; at?: number } = {}
      for (;;) {
        const start = performance.now()
        const { items, next, rv } = await storage.list(kind, { limit: page, ...after })
        pages.push(performance.now() - start)
        count += items.length
        if (next === undefined) break
        after = { after: next, at: rv }
      }
      whole.push(performance.now() - began)
    }
  })
  if (count !== listed * rounds) throw new Error(`${count} objects were listed`)
  table(
    `List of ${listed} objects in pages of ${page}`,
    ['whole s', 'page p50 ms', 'page p99 ms', ...costs.map((one) => `${one} per page`)],
    [[median(whole) / 1000, quantile(pages, 0.5), quantile(pages, 0.99), ...perCall(cost, pages.length)]],
  )
}

const pollMs = 200

/** From the beginning of a write, and from its acknowledgement, to its delivery to a watcher that asks every 200 ms. */
async function watchDelay(deployment: TestDeployment): Promise<void> {
  const { storage, meter } = storageOf(deployment)
  const kind = tableOf('watched')
  await storage.create(kind, 'first', putting('first', 0))
  const started = new Map<string, number>()
  const acknowledged = new Map<string, number>()
  const delivered = new Map<string, number>()
  const writes = 60
  const watch = async (): Promise<void> => {
    for (let rv = await storage.revision(kind); delivered.size < writes; await delay(pollMs)) {
      const batch = await storage.changes(kind, rv)
      for (const { key } of batch.changes) delivered.set(key, performance.now())
      rv = batch.rv
    }
  }
  const watching = watch()
  for (let index = 0; index < writes; index++) {
    const name = `object-${index}`
    started.set(name, performance.now())
    await storage.create(kind, name, putting(name, 0))
    acknowledged.set(name, performance.now())
    await delay(10 + Math.random() * 60)
  }
  await watching
  const since = (from: ReadonlyMap<string, number>): number[] =>
    [...delivered].map(([name, at]) => at - (from.get(name) ?? Number.NaN))
  const rows = Object.entries({ 'begin of the write': since(started), acknowledgement: since(acknowledged) }).map(
    ([name, times]) => [name, quantile(times, 0.5), quantile(times, 0.99)],
  )
  table(`Watch delivery of ${writes} changes, polled every ${pollMs} ms`, ['since', 'p50 ms', 'p99 ms'], rows)
  const rv = await storage.revision(kind)
  const idle = await during(meter, () => storage.changes(kind, rv))
  table('A poll of a watch', ['of', ...costs], [['nothing new', ...perCall(idle, 1)]])
}

const day = 86_400_000
const living = 200
const retentionSeconds = 7 * 86_400

/** A store of access keys whose calls are counted. */
function keysOf(deployment: TestDeployment): { store: Store; meter: Meter } {
  const { storage, meter } = storageOf(deployment)
  return { store: { ...deployment.parts.storeOf(OwnedAccessKey), storage }, meter }
}

async function sweeps(deployment: TestDeployment): Promise<void> {
  const { store, meter } = keysOf(deployment)
  const rows: number[][] = []
  await spread(living, 16, () => createKey(store, unique()))
  for (const dead of [100, 1000]) {
    const long = new Date(Date.now() - 60 * day)
    await spread(dead, 16, () => createKey(store, unique(), long))
    let took = 0
    let swept = { deleted: 0 }
    const cost = await during(meter, async () => {
      took = await once(async () => {
        swept = await sweepExpired({
          store,
          storage: store.storage,
          now: () => new Date(),
          retentionSeconds,
          limits: {},
          goOn: () => true,
          maxDeletions: 5000,
        })
      })
    })
    if (swept.deleted !== dead) throw new Error(`${swept.deleted} of ${dead} dead keys were deleted`)
    rows.push([dead, took / 1000, dead / (took / 1000), ...perCall(cost, dead)])
  }
  table(
    `Sweep of dead keys among ${living} living ones`,
    ['dead keys', 'seconds', 'keys/s', ...costs.map((one) => `${one} per key`)],
    rows,
  )
}

const samples = 64

/** What the operations of access keys cost, one at a time. */
async function costsOfKeys(deployment: TestDeployment): Promise<void> {
  const { store, meter } = keysOf(deployment)
  const names = Array.from({ length: samples }, unique)
  const keys = new Map<string, string>()
  const context = contextOf(admin)
  const place = (name: string) => ({ namespace: '', name })
  const deps = authenticationDeps({ ...deployment.parts, storage: store.storage }, (error) => {
    throw error
  })
  const operations: Record<string, (name: string) => Promise<unknown>> = {
    create: async (name) => keys.set(name, await createKey(store, name)),
    authenticate: (name) => authenticate(keys.get(name), deps),
    get: (name) => get(store, { ...place(name), subresource: '' }, context),
    'update, patch, apply': (name) =>
      update(
        store,
        {
          ...place(name),
          subresource: '',
          verb: 'patch',
          transform: (live) => ({ object: { ...live, spec: { ...live.spec, description: 'another' } }, secrets: [] }),
        },
        context,
      ),
    delete: (name) => remove(store, place(name), {}, context),
  }
  const rows: (string | number)[][] = []
  for (const [name, operation] of Object.entries(operations)) {
    const times: number[] = []
    const cost = await during(meter, async () => {
      for (const one of names) times.push(await once(() => operation(one)))
    })
    rows.push([name, median(times), ...perCall(cost, samples)])
  }
  table('Operations of access keys of 1 KB, one after another', ['operation', 'p50 ms', ...costs], rows)
}

export interface StorageOptions {
  /** Of each measurement of writers. */
  seconds: number
  /** Lists that are taken. */
  rounds: number
  /** Objects that are listed. */
  listed: number
  /** writers, lists, watch, keys or sweep; all when absent. */
  only?: string | undefined
}

export async function benchStorage({ seconds, rounds, listed, only }: StorageOptions): Promise<void> {
  const parts: Record<string, (deployment: TestDeployment) => Promise<void>> = {
    writers: (deployment) => writers(deployment, seconds),
    lists: (deployment) => lists(deployment, rounds, listed),
    watch: watchDelay,
    keys: costsOfKeys,
    sweep: sweeps,
  }
  for (const name of Object.keys(parts).filter((one) => (only ?? one) === one)) {
    const deployment = await startDeployment('https://bench.invalid')
    await parts[name]?.(deployment).finally(() => deployment.stop())
  }
}
