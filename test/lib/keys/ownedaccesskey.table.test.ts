/** Tests that the index partitions of a field selector have every key that it matches, and that no key can fill one too fast. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Identity } from '../../../lib/access/users/user.ts'
import { selectionOf } from '../../../lib/engine/endpoints/lists/selection.ts'
import { parseFieldSelector } from '../../../lib/engine/meta/selectors/fields.ts'
import type { JsonObject } from '../../../lib/engine/meta/types.ts'
import { type Item, sizeOf } from '../../../lib/engine/storage/items.ts'
import { rowsOf } from '../../../lib/engine/storage/keys.ts'
import { encodeKeyInternal } from '../../../lib/keys/credential/keyinternal.ts'
import { MAX_MAKERS } from '../../../lib/keys/credential/makers.ts'
import { madeWith, table } from '../../../lib/keys/ownedaccesskey.table.ts'
import { OwnedAccessKey } from '../../../lib/keys/ownedaccesskey.ts'
import { unhurried } from '../../support/deadlines.ts'
import { openStore, storageIn } from '../../support/store.ts'
import { admin } from '../../support/users.ts'

const computing = { strategy: OwnedAccessKey.strategy({ scopes: {} } as never), user: admin }
const selected = (selector: string) =>
  selectionOf(OwnedAccessKey, { labels: [], fields: parseFieldSelector(selector) }, computing)

/** Returns a key as it is stored. */
const keyOf = (spec: JsonObject, creator: Identity) => ({
  key: 'k',
  rv: 1,
  object: { apiVersion: 'v1', kind: 'OwnedAccessKey', metadata: { name: 'k', uid: 'u' }, spec },
  internal: encodeKeyInternal({ creator, carried: [], credential: { version: '1', hash: 'h' } } as never),
})

test.each<[string, string[] | undefined]>([
  ['status.owner=al', ['user:al']],
  ['status.owner=team:ops', ['team:ops']],
  ['status.owner=subject:s', ['subject:s']],
  ['spec.user=al', ['user:al']],
  ['spec.user=,spec.team=ops', ['team:ops']],
  ['spec.user=,spec.team=,spec.subject=s', ['subject:s']],
  ['spec.user=al,status.owner=al', ['user:al']],
  ['spec.user=al,status.owner=bo', []],
  // A user's key may have a team, and anybody's key may have no user.
  ['spec.team=ops', undefined],
  ['spec.subject=s', undefined],
  ['spec.user=', undefined],
  ['status.owner!=al,spec.user!=bo', undefined],
])('%s reads %j', (selector, partitions) => expect(selected(selector).within).toEqual(partitions))

test('a key that matches a selector is in each of its partitions', () => {
  const name = fc.constantFrom('', 'a', 'b')
  const requirement = fc
    .tuple(
      fc.constantFrom('spec.user', 'spec.team', 'spec.subject', 'status.owner'),
      fc.constantFrom('=', '!='),
      fc.oneof(name, fc.constantFrom('team:a', 'subject:a', 'team:b')),
    )
    .map((parts) => parts.join(''))
  const creator = fc.constantFrom<Identity>('user:a', 'user:b', 'team:a', 'subject:b')
  const key = fc.tuple(fc.record({ user: name, team: name, subject: name }), creator)
  let narrowed = 0
  fc.assert(
    fc.property(key, fc.array(requirement, { minLength: 1, maxLength: 3 }), ([spec, creator], requirements) => {
      const stored = keyOf(spec, creator)
      const { matches, within } = selected(requirements.join(','))
      if (within === undefined || !matches(stored)) return
      narrowed++
      expect(within).toEqual(table.partitions(stored))
    }),
    { numRuns: 5_000, seed: 20261126 },
  )
  expect(narrowed).toBeGreaterThan(100)
})

test('the maker reads the names of what it made, unless an owner narrows the list more', () => {
  expect(selected('status.madeWith.name=ci')).toMatchObject({ named: 'made:ci' })
  for (const other of ['status.madeWith.name!=ci', 'status.madeWith.name=', 'status.madeWith.uid=u'])
    expect(selected(other).named).toBeUndefined()
  expect(selected('status.madeWith.name=ci,status.owner=al')).toMatchObject({ within: ['user:al'] })
})

const maker = 'm'.repeat(253)
const name = 'k'.repeat(253)

/** Returns the write units of a put in a transaction. */
const unitsOf = (item: Item) => 2 * Math.ceil(sizeOf(item) / 1024)

test.each([1, MAX_MAKERS])(
  'a create by a key in a line of %i writes two units to the index of its maker, and a later write none: the rows are throttled before',
  async (count) => {
    const store = await openStore()
    const items = store.items()
    const puts: Item[] = []
    const storage = storageIn({
      ...items,
      transact(writes, deadline) {
        puts.push(...writes.flatMap((one) => (one.type === 'put' ? [one.item] : [])))
        return items.transact(writes, deadline)
      },
    })
    const makers = Array.from({ length: count }, (_, n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`)
    const internal = encodeKeyInternal({
      creator: 'user:alice',
      carried: [],
      credential: { version: '1', hash: 'x'.repeat(43) },
      makers,
      maker,
    })
    const object = {
      apiVersion: 'x/v1',
      kind: 'X',
      metadata: { name, uid: 'u' },
      spec: { description: 'x'.repeat(900) },
    }
    const unitsAt = (partition?: string) =>
      puts.filter(({ pk }) => pk === rowsOf(table.resource, partition)).reduce((sum, one) => sum + unitsOf(one), 0)
    await storage.update(table, name, () => ({ type: 'put', object, internal }), { ...unhurried, isNew: true })
    expect(unitsAt(madeWith(maker))).toBe(2)
    expect(unitsAt()).toBeGreaterThanOrEqual(4)
    puts.length = 0
    await storage.update(table, name, () => ({ type: 'put', object: { ...object, spec: {} }, internal }), unhurried)
    await storage.update(table, name, () => ({ type: 'delete' }), unhurried)
    expect([unitsAt(madeWith(maker)), puts.length > 0]).toEqual([0, true])
    await store.close()
  },
)
