/** Compares the drivers: the same random operations have the same answers. */
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { itemsIn } from '../../../../lib/engine/storage/dynamodb/dynamodb.ts'
import type { Condition, Item, Items, ItemWrite, Test } from '../../../../lib/engine/storage/items.ts'
import { startDynamoDB, type TestDynamoDB } from '../../../support/dynamodb.ts'
import { createMemoryItems } from '../../../support/memoryitems.ts'
import { randomFrom } from './adversary/simulation.ts'

let db: TestDynamoDB
beforeAll(async () => {
  db = await startDynamoDB()
})
afterAll(() => db.stop())

type Operation = (items: Items) => Promise<unknown>

/** Returns random operations on few items, so that most conditions hold sometimes. `hit` counts them by kind. */
function operations(seed: number, hit: (kind: string) => void): () => Operation {
  const random = randomFrom(seed)
  const below = (count: number) => Math.floor(random() * count)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  const keyNow = () => ({ pk: pick(['a', 'a#b']), sk: pick(['1', '10', '2', '\u0000', '\uffff', '\u{10000}']) })
  const itemNow = (): Item => ({
    ...keyNow(),
    rv: below(6),
    ...(random() < 0.4 && { gone: true }),
    ...(random() < 0.5 && { owner: pick(['x', 'y']) }),
    ...(random() < 0.5 && { expiryIndex: 'keys', expiry: below(4) }),
  })
  const testNow = (number: number): Test =>
    pick<Test>(['absent', 'present', { is: number }, { not: number }, { below: number }, { from: number }])
  const whenNow = (): Condition =>
    pick<() => Condition>([
      () => ({ pk: pick(['absent', 'present']) }),
      () => ({ rv: testNow(below(6)), gone: pick(['absent', 'present']) }),
      () => ({ pk: 'present', owner: pick([{ is: 'x' }, { not: 'y' }]) }),
      () => ({ used: testNow(below(8)) }),
    ])()
  const writeNow = (): ItemWrite => {
    const key = keyNow()
    const when = random() < 0.6 ? { when: random() < 0.5 ? whenNow() : [whenNow(), whenNow()] } : {}
    return pick<() => ItemWrite>([
      () => ({ type: 'put', item: itemNow(), ...when }),
      () => ({ type: 'set', key, attributes: { rv: below(6) }, ...(random() < 0.5 && { remove: ['gone'] }), ...when }),
      () => ({ type: 'set', key, attributes: { used: below(8) }, ...when }),
      () => ({ type: 'delete', key, ...when }),
      () => ({ type: 'check', key, when: whenNow() }),
    ])()
  }
  const revision = { pk: 'r', sk: '#' }
  const kinds: Record<string, () => Operation> = {
    get: () =>
      (
        (key) => (items) =>
          items.get(key)
      )(keyNow()),
    batchGet: () => {
      const keys = [
        { pk: 'a', sk: '1' },
        { pk: 'a#b', sk: '2' },
        { pk: 'a', sk: '10' },
      ]
      const attributes = random() < 0.5 ? ['sk', 'rv'] : undefined
      return async (items) =>
        (await items.batchGet(keys, attributes)).map((item) => JSON.stringify(sortAttributes(item))).sort()
    },
    query: () => {
      const range = pick([{}, { from: '1', to: '2' }, { prefix: '1' }])
      const query = { pk: 'a', ...range, ...('from' in range || random() < 0.5 ? {} : { after: '1' }) }
      const limited = random() < 0.5 ? { ...query, limit: 2 } : query
      return async (items) => (await items.query(limited)).items
    },
    queryIndex: () => {
      const to = below(5)
      const sort = { attribute: 'expiry', to, ...(random() < 0.5 && { from: below(to + 1) }) }
      return async (items) => {
        const index = { index: 'expiry', partition: { attribute: 'expiryIndex', value: 'keys' } }
        const found = await items.query({ ...index, sort })
        // The order of items with equal numbers is not defined, and an index does not have all attributes.
        return found.items.map(({ pk, sk, expiry }) => `${expiry} ${pk} ${sk}`).sort()
      }
    },
    write: () =>
      (
        (one) => (items) =>
          items.write(one.type === 'check' ? { type: 'delete', key: one.key } : one, Date.now() + 60_000)
      )(writeNow()),
    allocate: () => (items) => items.allocate(revision, 7),
    revision: () => (items) => items.get(revision),
    transact: () => {
      const writes = [writeNow(), writeNow()]
      const ids = writes.map((write) =>
        JSON.stringify(write.type === 'put' ? [write.item.pk, write.item.sk] : write.key),
      )
      const unique = new Set(ids).size === 2 && writes.every(({ type }) => type !== 'put') ? writes : writes.slice(0, 1)
      return (items) => items.transact(unique, Date.now() + 60_000)
    },
  }
  const names = [...Object.keys(kinds), 'transact', 'transact', 'transact', 'transact']
  return () => {
    const name = pick(names)
    hit(name)
    return (kinds[name] as () => Operation)()
  }
}

const sortAttributes = (item: Item) =>
  Object.fromEntries(Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1)))

test('600 random operations have the same answers', async () => {
  const table = itemsIn(db.client, db.table, Date.now)
  const memory = createMemoryItems(Date.now)
  const counts = new Map<string, number>()
  const next = operations(1, (kind) => counts.set(kind, (counts.get(kind) ?? 0) + 1))
  const outcomes = { done: 0, refused: 0 }
  for (let index = 0; index < 600; index++) {
    const operation = next()
    const [expected, found] = [await operation(table), await operation(memory)]
    if (!isDeepStrictEqual(expected, found)) expect({ index, answer: found }).toEqual({ index, answer: expected })
    if (typeof expected === 'object' && expected && 'done' in expected) outcomes[expected.done ? 'done' : 'refused']++
  }
  expect(counts.size).toBe(8)
  expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(50)
})
