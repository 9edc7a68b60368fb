/** Tests that a part of a transaction, which a restored table may hold, is made whole or named. */
import { beforeAll, describe, expect, test } from 'vitest'
import { repair } from '../../infra/repair.ts'
import type { StoredItem } from '../../infra/restoredvalues.ts'
import { marshalItem, unmarshalItem } from '../../lib/engine/storage/dynamodb/expressions.ts'
import type { Item } from '../../lib/engine/storage/items.ts'
import { isSlot, slotKey } from '../../lib/engine/storage/keys.ts'
import { newWorld, reference, type World } from '../lib/engine/controllers/world.ts'
import { changeInternal } from '../lib/keys/events/publisher.ts'

/** The items of two keys, the second of which the first one owns, before and after a change of it. */
let before: Item[]
let after: Item[]
let slots: StoredItem[]
let credential: { pk: string; sk: string }

async function itemsOf({ rows, find, credential: credentialOf }: World): Promise<Item[]> {
  const owner = await find('owner')
  const keys = ['owner', 'owned'].flatMap((sk) =>
    ['o', 'o#user:alice', 'o#count#user:alice'].map((part) => ({ pk: `ownedaccesskeys#${part}`, sk })),
  )
  const others = [{ pk: `owner#${owner?.metadata.uid}`, sk: 'ownedaccesskeys/owned' }]
  const all = [...keys, ...others, await credentialOf('owner'), await credentialOf('owned')]
  const found = await Promise.all(all.map(({ pk, sk }) => rows.get({ pk, sk })))
  return found.flatMap((item) => (item ? [structuredClone(item)] : []))
}

beforeAll(async () => {
  const world = await newWorld()
  const owner = await world.make('owner', {}, { user: 'alice' })
  await world.make('owned', { ownerReferences: [reference(owner)] }, { user: 'alice' })
  before = await itemsOf(world)
  await world.change('owned', (object) => ({ ...object, spec: { ...object.spec, disabled: true } }))
  after = await itemsOf(world)
  credential = await world.credential('owned')
  const found = await Promise.all([2, 3, 4].map((rev) => world.rows.get(slotKey('ownedaccesskeys', rev))))
  slots = found.flatMap((item) => (item ? [marshalItem(item)] : []))
})

const isAt = (pk: string, sk: string) => (item: Item) => item.pk === pk && item.sk === sk
const run = (items: readonly Item[], log: readonly StoredItem[] = slots) => {
  const { items: repaired, ...said } = repair(items.map(marshalItem), log)
  const sorted = repaired
    .map(unmarshalItem)
    .sort((one, other) => `${one.pk} ${one.sk}`.localeCompare(`${other.pk} ${other.sk}`))
  return { ...said, items: sorted }
}

// threat: storage-12
test('what is whole stays as it is', () => {
  expect(slots.every(({ pk }) => isSlot({ pk: pk?.S ?? '' }))).toBe(true)
  expect(run(after)).toEqual({ repairs: [], open: [], items: run(after).items })
  expect(run(after).items).toHaveLength(9)
})

describe('of a key, it makes again', () => {
  test.each([
    ['its copy', 'ownedaccesskeys#o#user:alice', 'owned'],
    ['its mark', 'ownedaccesskeys#o#count#user:alice', 'owned'],
    ['its entry in the owner index', 'owner#', 'ownedaccesskeys/owned'],
    ['the row', 'ownedaccesskeys#o', 'owned'],
  ])('%s', (what, pk, sk) => {
    const isLost = (item: Item) => item.sk === sk && (item.pk === pk || (pk === 'owner#' && item.pk.startsWith(pk)))
    const { repairs, open, items } = run(after.filter((item) => !isLost(item)))
    expect([repairs, open]).toEqual([[expect.stringContaining(what)], []])
    expect(items).toEqual(run(after).items)
  })

  test('the newer state of a row and its copy, when they are older than the log', () => {
    const isOf = ({ pk, sk }: Item) => pk.startsWith('ownedaccesskeys#o') && sk === 'owned'
    const { open, items } = run([...after.filter((item) => !isOf(item)), ...before.filter(isOf)])
    expect([open, items]).toEqual([[], run(after).items])
  })
})

test('the entry of a key with the key that made it is made again, and goes without that key', async () => {
  const world = await newWorld()
  await world.make('owner', {}, { user: 'alice' })
  await world.make('owned', {}, { user: 'alice' })
  await changeInternal(world, 'owned', (internal) => ({ ...internal, makers: ['u-1'], maker: 'owner' }))
  const pk = 'ownedaccesskeys#o#made:owner'
  const { repairs, items } = run([...(await itemsOf(world)), { pk, sk: 'gone', rv: 2 }], [])
  expect(repairs).toEqual([
    'ownedaccesskeys/owned: its entry in made:owner',
    'gone: ownedaccesskeys item without its object',
  ])
  expect(items.filter((item) => item.pk === pk)).toMatchObject([{ sk: 'owned', rv: expect.any(Number) }])
  expect(run(items, [])).toMatchObject({ repairs: [], open: [] })
})

// threat: storage-12
test('a credential from before the change of its key is removed and named, because it would allow more', () => {
  const isCredential = isAt(credential.pk, credential.sk)
  for (const old of [before.filter(isCredential), []]) {
    const { open, items } = run([...after.filter((item) => !isCredential(item)), ...old])
    expect(open).toEqual([expect.stringMatching(/^ownedaccesskeys\/owned: no credential of its current value/)])
    expect(items.some(isCredential)).toBe(false)
  }
})

// threat: storage-12
test('nothing stays of a key without a row', () => {
  const { repairs, items } = run(
    after.filter(({ pk }) => pk !== 'ownedaccesskeys#o'),
    [],
  )
  expect([repairs.length, items]).toEqual([7, []])
})
