/** Tests the operations on field sets, and FieldsV1. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type FieldElement,
  type FieldPath,
  fieldElement,
  indexElement,
  keyElement,
  pathText,
  valueElement,
} from '../../../../../lib/engine/meta/structuredmerge/element.ts'
import {
  FieldsV1Error,
  parseFieldsV1,
  serializeFieldsV1,
} from '../../../../../lib/engine/meta/structuredmerge/fieldsv1.ts'
import {
  difference,
  EMPTY,
  type FieldSet,
  hasPath,
  insert,
  intersection,
  recursiveDifference,
  setOf,
  union,
  walkPaths,
} from '../../../../../lib/engine/meta/structuredmerge/set.ts'
import type { JsonObject, JsonValue } from '../../../../../lib/engine/meta/types.ts'
import cases from './vectors/set.cases.json' with { type: 'json' }

const small = fc.constantFrom('a', 'b', 'constructor')
const scalars: fc.Arbitrary<JsonValue> = fc.oneof(
  small,
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.integer(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
)
const elements: fc.Arbitrary<FieldElement> = fc.oneof(
  { weight: 3, arbitrary: small.map(fieldElement) },
  fc.dictionary(fc.constantFrom('k', 'l'), fc.oneof(small, fc.nat(3)), { minKeys: 1 }).map((key) => {
    return keyElement(Object.entries(key))
  }),
  scalars.map(valueElement),
  fc.nat(3).map(indexElement),
)
const fieldPaths = fc.array(elements, { minLength: 1, maxLength: 4 })
const sets = fc.array(fieldPaths, { maxLength: 12 }).map((all) => setOf(...all))

const ids = (set: FieldSet): string[] => Array.from(walkPaths(set), (path) => path.map(({ id }) => id).join(' '))
const same = (a: FieldSet, b: FieldSet): void => expect(ids(a)).toEqual(ids(b))

/** Checks the invariant of all sets: each node is a member or has descendants. */
function isValidSet(set: FieldSet): boolean {
  return [...set.values()].every(({ member, below }) => (member || below.size > 0) && isValidSet(below))
}

describe('set operations', () => {
  it('agree with operations on sets of paths', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const [left, right] = [ids(a), new Set(ids(b))]
        expect(new Set(ids(union(a, b)))).toEqual(new Set([...left, ...right]))
        expect(ids(intersection(a, b))).toEqual(left.filter((id) => right.has(id)))
        expect(ids(difference(a, b))).toEqual(left.filter((id) => !right.has(id)))
        for (const set of [union(a, b), intersection(a, b), difference(a, b)]) expect(isValidSet(set)).toBe(true)
      }),
    )
  })

  it('follow the laws of set algebra', () => {
    fc.assert(
      fc.property(sets, sets, sets, (a, b, c) => {
        same(union(a, b), union(b, a))
        same(union(a, union(b, c)), union(union(a, b), c))
        same(intersection(a, union(b, c)), union(intersection(a, b), intersection(a, c)))
        same(difference(a, union(b, c)), difference(difference(a, b), c))
        same(union(difference(a, b), intersection(a, b)), a)
        same(difference(a, a), EMPTY)
      }),
    )
  })

  it('remove whole subtrees recursively', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const isCovered = (path: FieldPath): boolean => path.some((_, i) => hasPath(b, path.slice(0, i + 1)))
        const kept = [...walkPaths(a)]
          .filter((path) => !isCovered(path))
          .map((path) => path.map(({ id }) => id).join(' '))
        const result = recursiveDifference(a, b)
        expect([ids(result), isValidSet(result)]).toEqual([kept, true])
      }),
    )
  })

  it('do not change their arguments', () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const before = [JSON.stringify(serializeFieldsV1(a)), JSON.stringify(serializeFieldsV1(b))]
        for (const operation of [union, intersection, difference, recursiveDifference]) operation(a, b)
        expect([JSON.stringify(serializeFieldsV1(a)), JSON.stringify(serializeFieldsV1(b))]).toEqual(before)
      }),
    )
  })

  it('never add the empty path', () => {
    const set = new Map()
    insert(set, [])
    expect([set.size, hasPath(setOf([fieldElement('a')]), [])]).toEqual([0, false])
  })
})

describe('FieldsV1', () => {
  it('decodes to the set that it encodes', () => {
    fc.assert(
      fc.property(sets, (set) => {
        const text = JSON.stringify(serializeFieldsV1(set))
        const again = parseFieldsV1(JSON.parse(text))
        same(again, set)
        expect(JSON.stringify(serializeFieldsV1(again))).toBe(text)
      }),
    )
  })

  it.each([
    ...(cases.written as [string, FieldPath[], string][]),
    [
      'numbers before texts, by value',
      [[valueElement('10')], [valueElement(10)], [valueElement(9)], [valueElement(2n ** 60n)]],
      '{"v:9":{},"v:10":{},"v:1152921504606846976":{},"v:\\"10\\"":{}}',
    ],
  ])('writes %s', (_, all, text) => expect(JSON.stringify(serializeFieldsV1(setOf(...all)))).toBe(text))

  it('skips unknown types of elements, and treats null as a leaf', () => {
    same(parseFieldsV1({ 'x:y': { 'f:z': {} }, 'f:a': null }), setOf([fieldElement('a')]))
    same(parseFieldsV1({ 'f:a': { 'x:y': {} } }), setOf([fieldElement('a')]))
  })

  const deep = (levels: number): JsonObject => {
    let value: JsonObject = {}
    for (let i = 0; i < levels; i++) value = { 'f:a': value }
    return value
  }

  it.each([
    ...(cases.rejected as [string, JsonValue][]),
    ['depth in items', { [`v:${'['.repeat(10_000)}`]: {} }],
    ['size', Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`f:${i}`, {}]))],
  ])('rejects %s', (_, value) => expect(() => parseFieldsV1(value)).toThrow(FieldsV1Error))

  it('accepts the maximum depth', () => expect(ids(parseFieldsV1(deep(64)))).toHaveLength(1))
})

describe('pathText', () => {
  it.each(cases.paths as [FieldPath, string][])('%#', (path, text) => expect(pathText(path)).toBe(text))
})
