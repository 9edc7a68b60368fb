/** Which changes of the table wake functions: the filters of the streams, evaluated as Lambda does, for the items that the code writes. */
import { describe, expect, test } from 'vitest'
import { functions } from '../../infra/functions.ts'
import { events } from '../../infra/stack/events.ts'
import {
  activityOf,
  deletedOf,
  type ItemKey,
  marksOf,
  revisionKey,
  rowsOf,
  slotKey,
} from '../../lib/engine/storage/keys.ts'
import { boundKey, endingItem } from '../../lib/keys/credential/boundsecrets.ts'
import { credentialItemKey } from '../../lib/keys/credential/credential.ts'
import { gateKeys } from '../../lib/keys/credential/gates.ts'
import { markKey, type SignalKind, signalItem } from '../../lib/keys/credential/signals.ts'
import { endedTarget } from '../../lib/keys/credential/targetkeys.ts'
import { positionKey } from '../../lib/keys/history/keptsince.ts'
import { recordingKey } from '../../lib/keys/usage/items.ts'
import { KINDS, kindRows } from '../../lib/kinds.ts'

type EventName = 'INSERT' | 'MODIFY' | 'REMOVE'

/** Reports whether a record matches a pattern: a list names values and operators, one of which must hold, and members are all needed. */
function matches(pattern: unknown, value: unknown): boolean {
  if (Array.isArray(pattern)) return typeof value === 'string' && pattern.some((one) => holds(one, value))
  if (typeof pattern !== 'object' || pattern === null) throw new Error('a pattern has objects and lists only')
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(pattern).every(([name, part]) => matches(part, (value as Record<string, unknown>)[name]))
}

function holds(rule: unknown, value: string): boolean {
  if (typeof rule === 'string') return value === rule
  const [[operator, operand] = [], ...more] = Object.entries(rule as object)
  if (operator === 'prefix' && typeof operand === 'string' && more.length === 0) return value.startsWith(operand)
  throw new Error(`no operator of this test: ${JSON.stringify(rule)}`)
}

/** Returns what reports whether a change of an item wakes the function. Filters are alternatives. */
function filterOf(path: string) {
  const id = functions.find((one) => one.path === path)?.id
  const mapping = events[`${id}EventSourceMappingDynamodbTable`]
  const criteria = mapping?.Properties.FilterCriteria as unknown as { Filters: { Pattern: string }[] } | undefined
  if (!criteria) throw new Error(`nothing wakes ${path}`)
  const patterns = criteria.Filters.map(({ Pattern }) => JSON.parse(Pattern))
  return (eventName: EventName, { pk, sk }: ItemKey) =>
    patterns.some((pattern) => matches(pattern, { eventName, dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }))
}

const stored = kindRows.filter(({ archetype }) => archetype === 'stored').map(({ plural }) => plural)
const keys = KINDS.OwnedAccessKey.plural
const at = 1_795_257_600
const hash = { version: '1', hash: 'bXkga2V5IGhhc2gx' }
const federation = { trust: { uid: 'one', revision: 1 }, provider: { uid: 'two', revision: 1 } }
const row = (plural: string): ItemKey => ({ pk: rowsOf(plural), sk: 'ci' })
const signal = (kind: SignalKind, day = 0) => signalItem({ kind, name: 'ci', uid: 'one', at: at + day * 86_400 }, hash)

/** What no stream is for, by name. */
const others: Readonly<Record<string, ItemKey>> = {
  'the copy of an index': { pk: rowsOf(keys, 'user:alice'), sk: 'ci' },
  'the name in an index': { pk: rowsOf(keys, 'made:ci'), sk: 'job' },
  'a mark': { pk: marksOf(keys, 'user:alice'), sk: 'ci' },
  'a tombstone that left the rows': { pk: deletedOf(keys), sk: 'ci' },
  'the activity of a key': { pk: activityOf(keys), sk: 'ci' },
  'a revision': revisionKey(keys),
  'a credential': credentialItemKey(hash),
  'the gate of a trust': gateKeys(federation)[0],
  'the gate of a provider': gateKeys(federation)[1],
  'the record of a Secret': boundKey('one', 'clusters/prod/two', '86400.20779'),
  'the mark of a published signal': markKey(signal('reused')),
  'the end of an exchange': endedTarget('one', { token: 'two', place: 'clusters/prod' }),
  'the position of the publisher': positionKey,
  'the beginning of usage': recordingKey,
}

const changes: readonly EventName[] = ['INSERT', 'MODIFY', 'REMOVE']

const now = new Date('2026-11-21T12:00:00Z')

describe('the garbage collector is woken', () => {
  const wakes = filterOf('garbagecollector')

  test.each(stored)('by new, changed and deleted objects of %s', (plural) => {
    expect(changes.map((name) => wakes(name, row(plural)))).toEqual([true, true, false])
  })

  test.each(stored)('by nothing else of %s', (plural) => {
    for (const key of [slotKey(plural, 1), deletedOf(plural), marksOf(plural, 'a'), rowsOf(plural, 'user:alice')])
      expect(wakes('INSERT', typeof key === 'string' ? { pk: key, sk: 'ci' } : key)).toBe(false)
  })

  test.each(Object.keys(others))('not by %s', (name) => {
    expect(changes.some((event) => wakes(event, others[name] as ItemKey))).toBe(false)
  })

  test('not by signals and ends', () => {
    for (const { pk, sk } of [signal('leaked'), endingItem('trust#one', now)])
      expect(wakes('INSERT', { pk, sk })).toBe(false)
  })
})

describe('the publisher of events is woken', () => {
  const wakes = filterOf('lifecycle')

  test.each([1, 63, 64, 1_000_000])('by the entry %d in the change log of keys', (rev) => {
    expect(wakes('INSERT', slotKey(keys, rev))).toBe(true)
  })

  test.each(['first-used', 'rotated', 'reused', 'source-refused', 'leaked'] as const)('by the signal %s', (kind) => {
    for (const day of [0, 1, 40]) expect(wakes('INSERT', signal(kind, day))).toBe(true)
  })

  test.each(['trust#one', 'provider#one', 'clusters/prod/one', 'virtualclusters/p-shop/dev/one'] as const)(
    'by the end of %s',
    (what) => {
      const { pk, sk } = endingItem(what, now)
      expect(wakes('INSERT', { pk, sk })).toBe(true)
    },
  )

  test('not when such an item is removed, as it was read then', () => {
    for (const { pk, sk } of [slotKey(keys, 1), signal('leaked'), endingItem('trust#one', now)])
      expect(wakes('REMOVE', { pk, sk })).toBe(false)
  })

  test.each(stored.filter((plural) => plural !== keys))('not by changes of %s', (plural) => {
    for (const key of [slotKey(plural, 1), row(plural), revisionKey(plural)])
      expect(changes.some((event) => wakes(event, key))).toBe(false)
  })

  test.each([...Object.keys(others), 'the row of a key'])('not by %s', (name) => {
    expect(changes.some((event) => wakes(event, others[name] ?? row(keys)))).toBe(false)
  })
})
