/** Measures that get, create and authentication do not slow down with the number of objects, and that lists grow linearly. */
import { getObject } from '../../lib/registry/read.ts'
import type { Storage, Table } from '../../lib/storage/interface.ts'
import { copyKey, rowsIn } from '../support/copies.ts'
import { startDeployment } from '../support/deployment.ts'
import { admin, contextOf } from '../support/users.ts'
import { createKey, unique } from './access.ts'
import { median, timeRun } from './measure.ts'
import { during } from './meter.ts'
import { costs, keysOf, perCall } from './meteredstore.ts'
import { table } from './print.ts'

const samples = 100
/** The operation whose time grows with the number of objects. */
const whole = 'list of all'

export async function benchGrowth({ rounds, objects }: { rounds: number; objects: number }): Promise<void> {
  const deployment = await startDeployment('https://bench.invalid')
  try {
    const { store, meter, place, authenticate } = keysOf(deployment)
    const { storage, kind } = store
    const context = contextOf(admin)
    const names: string[] = []
    const make = async (): Promise<string> => {
      const name = unique()
      const key = await createKey(store, name)
      names.push(name)
      return key
    }
    const key = await make()
    const any = (): string => names[Math.floor(Math.random() * names.length)] ?? ''
    const operations: Record<string, { times: number; call(): Promise<unknown> }> = {
      get: { times: samples, call: () => getObject(store, { namespace: '', name: any(), subresource: '' }, context) },
      authenticate: { times: samples, call: () => authenticate(key) },
      [whole]: { times: rounds, call: () => listAll(storage, kind.table) },
      // Runs last, because it adds objects.
      create: { times: samples / 2, call: make },
    }
    const rows: (string | number)[][] = []
    for (const size of [100, 1000, 10_000, 100_000].filter((one) => one <= objects)) {
      await make()
      names.push(...(await copyKey(rowsIn(place), names.at(-1) ?? '', size - names.length)))
      await storage.sweep(kind.table)
      for (const [name, { times, call }] of Object.entries(operations)) {
        await call()
        const taken: number[] = []
        const cost = await during(meter, async () => {
          for (let index = 0; index < times; index++) taken.push(await timeRun(call))
        })
        const perObject = name === whole ? (median(taken) * 1000) / size : Number.NaN
        rows.push([name, size.toLocaleString('en'), median(taken), perObject, ...perCall(cost, times)])
      }
    }
    rows.sort(
      ([one], [other]) => Object.keys(operations).indexOf(`${one}`) - Object.keys(operations).indexOf(`${other}`),
    )
    table('Growth: one caller', ['operation', 'objects', 'p50 ms', 'µs per object', ...costs], rows)
  } finally {
    await deployment.stop()
  }
}

async function listAll(storage: Storage, table: Table): Promise<void> {
  let page = await storage.list(table, {})
  for (;;) {
    for (const one of page.items) one.read()
    if (page.next === undefined) return
    page = await storage.list(table, { after: page.next, at: page.rv })
  }
}
