import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import {
  isCount,
  isText,
  keptRecord,
  part,
  RELEASES,
  restricts,
  strictRecord,
  writable,
} from '../../../../lib/keys/credential/strictrecord.ts'
import packageFile from '../../../../package.json' with { type: 'json' }
import { PREVIOUS } from '../../../release/previous.ts'

const REQUIRED = { name: isText }
const OPTIONAL = { count: isCount }
const kept = keptRecord('a record', REQUIRED, OPTIONAL)
const read = (value: unknown) => strictRecord('a record', value, REQUIRED, OPTIONAL)

describe('strictRecord', () => {
  test('returns the members that the reader knows and ignores all others', () => {
    expect(read({ name: 'x', count: 1, more: true, hasOwnProperty: 1, constructor: {} })).toEqual({
      name: 'x',
      count: 1,
    })
    expect(read(JSON.parse('{"name":"x","__proto__":{"count":"x"}}'))).toEqual({ name: 'x' })
  })

  test.each([
    [null, 'a record is not an object'],
    [[], 'a record is not an object'],
    [{}, 'a record lacks name'],
    [{ count: 1 }, 'a record lacks name'],
    [JSON.parse('{"__proto__":{"name":"x"}}'), 'a record lacks name'],
    [{ name: 1 }, 'a record has a wrong name'],
    [{ name: 'x', count: -1 }, 'a record has a wrong count'],
    [{ name: 'x', count: undefined }, 'a record has a wrong count'],
  ])('rejects %j', (value, message) => expect(() => read(value)).toThrow(new Error(message)))

  test('accepts a record whose critical members it knows', () => {
    for (const crit of [['name'], ['count'], ['count', 'name']]) {
      expect(read({ name: 'x', more: 1, crit })).toEqual({ name: 'x' })
    }
  })

  // threat: releases-1
  test.each([[['more']], [['name', 'more']], [['crit']], [['toString']], [['__proto__']]])(
    'rejects a record with the critical members %j, even if they are absent',
    (crit) => {
      const message = 'a record has a critical member that this release does not know'
      for (const more of [{}, { more: 1 }]) expect(() => read({ name: 'x', ...more, crit })).toThrow(new Error(message))
    },
  )

  // threat: releases-1
  test.each([[null], [undefined], [[]], [''], ['name'], [{ name: 1 }], [[1]], [['name', '']], [[['name']]]])(
    'rejects a record whose crit is %j',
    (crit) => expect(() => read({ name: 'x', crit })).toThrow(new Error('a record has a wrong crit')),
  )
})

test('a record is written as it was read, also what the reader does not know', () => {
  const member = fc.constantFrom('more', 'other', 'crit', '__proto__', 'toString')
  fc.assert(
    fc.property(fc.dictionary(member, fc.jsonValue()), fc.boolean(), (others, isCritical) => {
      const { crit: _, ...rest } = others
      const record = { ...rest, name: 'x', ...(isCritical && { crit: ['name'] }) } as JsonObject
      const { unknown = {}, ...known } = kept.read(record)
      expect(known).toEqual(read(record))
      expect(Object.keys(unknown)).not.toContain('name')
      expect(kept.write({ ...known, unknown })).toEqual(record)
    }),
    { numRuns: 300, seed: 20261122 },
  )
  expect(kept.read({ name: 'x' })).toEqual({ name: 'x' })
  expect(kept.write({ name: 'x', count: undefined, more: 1 } as object)).toEqual({ name: 'x' })
})

describe('a member that restricts access', () => {
  const now = '0.2.0'
  const members = {
    until: restricts('0.1.0', isCount),
    suspended: restricts(now, isCount),
    tier: restricts(now, part(String)),
    ended: restricts(now, isCount, 'the release before ignores it'),
  }

  test('is read as any other', () => {
    const value = { until: 1, suspended: 2, tier: 3, ended: 4 }
    expect(strictRecord('a record', value, members)).toEqual({ ...value, tier: '3' })
    expect(() => strictRecord('a record', { ...value, suspended: -1 }, members)).toThrow(
      new Error('a record has a wrong suspended'),
    )
  })

  test('is not written by the release that reads it first, unless it says why', () => {
    const checked = writable('a record', members)
    const record = { until: 1, suspended: undefined, ended: 4 }
    expect(checked(record)).toBe(record)
    for (const name of ['suspended', 'tier'])
      expect(() => checked({ ...record, [name]: 0 })).toThrow(
        new Error(`a record must not have ${name} before every release reads it`),
      )
  })

  test('is not written with a kept record either', () => {
    const { write } = keptRecord('a record', { name: isText }, members)
    const record = { name: 'x', until: 1, ended: 4 }
    expect(write(record)).toEqual(record)
    expect(() => write({ ...record, ...{ suspended: 1 } })).toThrow('suspended')
  })

  test('leaves the check that it marks unmarked', () => expect(isCount).not.toHaveProperty('readSince'))

  test('names a release of this project', () => {
    // @ts-expect-error: there is no such release.
    restricts('0.0.9', isCount)
    expect(RELEASES.slice(-2)).toEqual([PREVIOUS.version, packageFile.version])
  })
})
