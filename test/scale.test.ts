/** Computes the tables of docs/scale.md from the units and prices of docs/cost.md, which test/server/cost.dynamodb.ts measures. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { breakEven, clusters, fixed, priceOf } from './bench/prices.ts'

const read = (page: string) => readFile(join(import.meta.dirname, '../docs', page), 'utf8')
const [scale, cost] = await Promise.all([read('scale.md'), read('cost.md')])

/** Returns the cells of the rows below this header, by their first cell. */
function table(page: string, header: string): Map<string, string[]> {
  const [, , ...rows] =
    page
      .slice(page.indexOf(`| ${header} |`))
      .split('\n\n')[0]
      ?.split('\n') ?? []
  return new Map(rows.map((row) => row.slice(2, -2).split(' | ')).map(([name = '', ...cells]) => [name, cells]))
}

const numberOf = (cell: string | undefined) => Number(/[\d.,]+/.exec(cell ?? '')?.[0].replaceAll(',', ''))
const costs = table(cost, 'request')
const mix = ['get', 'page of 100', 'create of a key', 'kube config']
const rates = table(scale, 'request')
const rateOf = (request: string) => numberOf(rates.get(request)?.[0])
const sum = (of: (request: string) => number) => mix.reduce((total, one) => total + rateOf(one) * of(one), 0)

const watches = 20
const keysInUse = 100
const secondsPerMonth = 730 * 3600

test('the load grows as the units of its requests and watches do', () => {
  const requests = sum(() => 1)
  const loads: Record<string, number> = {
    'requests a second': requests,
    'concurrent executions': requests * 0.019 + watches,
    'invocations a second': requests * 2,
    'read units a second': sum((one) => numberOf(costs.get(one)?.[1])) + watches,
    'write units a second': sum((one) => numberOf(costs.get(one)?.[2])) + (watches * 2) / 30 + (keysInUse * 4) / 60,
    'read units a second of the revision item of a kind': watches,
    'write units a second of the rows of a kind': rateOf('create of a key') * 4,
    'write units a second of the activity of keys': (keysInUse * 2) / 60,
    'signatures a second': rateOf('kube config'),
    'dollars a month, without fixed costs':
      (sum((one) => numberOf(costs.get(one)?.[3])) * secondsPerMonth) / 1e6 + watches * 18 + keysInUse * 0.11,
  }
  const rows = table(scale, 'resource')
  expect([...rows.keys()]).toEqual(Object.keys(loads))
  for (const [name, today] of Object.entries(loads)) {
    for (const [index, factor] of [1, 10, 100, 1000].entries()) {
      const said = numberOf(rows.get(name)?.[index])
      // Rounded to a tenth below 100, and to a whole number above.
      expect([name, factor, Math.abs(said - today * factor) <= (said < 100 ? 0.051 : 0.51)]).toEqual([
        name,
        factor,
        true,
      ])
    }
  }
})

test('the rates of creates follow from their measured units', () => {
  const units = numberOf(costs.get('create of a key')?.[2])
  expect(scale).toContain(`A create of a key of 1 KB is ${units} write units.`)
  expect(scale).toContain(`which are ${Math.floor(4000 / units)} creates`)
})

test('the prices of the main job follow from its units', () => {
  const steps = [...table(scale, 'step').values()]
  expect(steps).toHaveLength(4)
  const prices = steps.map(([, reads, writes, price], index) => {
    const signatures = index === 1 || index === 2 ? 1 : 0
    const computed = priceOf({ reads: numberOf(reads), writes: numberOf(writes), signatures })
    expect(numberOf(price)).toBeCloseTo(computed, 1)
    return computed
  })
  const mean = prices.reduce((total, one) => total + one, 0) / prices.length
  expect(scale.replaceAll('\n', ' ')).toContain(
    `A million such requests cost $${mean.toFixed(2)}, and the deployment $${fixed.toFixed(2)} a month`,
  )
  const rows = table(scale, 'cluster')
  for (const cluster of clusters) {
    const [price, requests] = rows.get(cluster.name) ?? []
    expect([numberOf(price), numberOf(requests)]).toEqual([
      Math.round(cluster.price),
      Math.round(breakEven(cluster, mean)),
    ])
  }
})
