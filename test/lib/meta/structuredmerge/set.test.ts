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
} from '../../../../lib/meta/structuredmerge/element.ts'
import { FieldsV1Error, parseFieldsV1, serializeFieldsV1 } from '../../../../lib/meta/structuredmerge/fieldsv1.ts'
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
} from '../../../../lib/meta/structuredmerge/set.ts'
import type { JsonObject, JsonValue } from '../../../../lib/meta/types.ts'

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
        expect(ids(result)).toEqual(kept)
        expect(isValidSet(result)).toBe(true)
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
    expect(set.size).toBe(0)
    expect(hasPath(setOf([fieldElement('a')]), [])).toBe(false)
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

  it.each<[string, FieldPath[], string]>([
    ['nothing', [], '{}'],
    ['a leaf', [[fieldElement('spec')]], '{"f:spec":{}}'],
    [
      'a node that is owned and has something below',
      [[fieldElement('a')], [fieldElement('a'), fieldElement('b')]],
      '{"f:a":{".":{},"f:b":{}}}',
    ],
    [
      'fields, keys, values, indexes in this order',
      [[indexElement(10)], [indexElement(9)], [valueElement('a')], [keyElement([['a', 1]])], [fieldElement('z')]],
      '{"f:z":{},"k:{\\"a\\":1}":{},"v:\\"a\\"":{},"i:9":{},"i:10":{}}',
    ],
    [
      'numbers before texts, by value',
      [[valueElement('10')], [valueElement(10)], [valueElement(9)], [valueElement(2n ** 60n)]],
      '{"v:9":{},"v:10":{},"v:1152921504606846976":{},"v:\\"10\\"":{}}',
    ],
    [
      'keys sorted by name',
      [
        [
          keyElement([
            ['protocol', 'TCP'],
            ['port', 80],
          ]),
        ],
      ],
      '{"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{}}',
    ],
    [
      'keys by name, then by value',
      [[keyElement([['b', 1]])], [keyElement([['a', 2]])], [keyElement([['a', 1]])]],
      '{"k:{\\"a\\":1}":{},"k:{\\"a\\":2}":{},"k:{\\"b\\":1}":{}}',
    ],
    [
      'names as they are, values escaped as Go does',
      [[fieldElement('<a>"😀')], [valueElement('<&>\u2028\b\f\n\u0001"\\😀')], [keyElement([['name', '"q"']])]],
      '{"f:<a>\\"😀":{},"k:{\\"name\\":\\"\\\\\\"q\\\\\\"\\"}":{},"v:\\"\\\\u003c\\\\u0026\\\\u003e\\\\u2028\\\\u0008\\\\u000c\\\\n\\\\u0001\\\\\\"\\\\\\\\😀\\"":{}}',
    ],
    [
      'names in the order of their bytes',
      [[fieldElement('😀')], [fieldElement('ﬀ')], [fieldElement('b')], [fieldElement('B')]],
      '{"f:B":{},"f:b":{},"f:ﬀ":{},"f:😀":{}}',
    ],
  ])('writes %s', (_, all, text) => {
    expect(JSON.stringify(serializeFieldsV1(setOf(...all)))).toBe(text)
  })

  it('skips unknown types of elements, and treats null as a leaf', () => {
    same(parseFieldsV1({ 'x:y': { 'f:z': {} }, 'f:a': null }), setOf([fieldElement('a')]))
    same(parseFieldsV1({ 'f:a': { 'x:y': {} } }), setOf([fieldElement('a')]))
  })

  const deep = (levels: number): JsonObject => {
    let value: JsonObject = {}
    for (let i = 0; i < levels; i++) value = { 'f:a': value }
    return value
  }

  it.each<[string, JsonValue]>([
    ['a list', []],
    ['a text', 'f:a'],
    ['a field that is a number', { 'f:a': 1 }],
    ['a member without a kind', { f: {} }],
    ['a member without a colon', { fa: {} }],
    ['an item that is no JSON', { 'v:a': {} }],
    ['an item with something after it', { 'v:1 2': {} }],
    ['an item that is an object', { 'v:{}': {} }],
    ['a key that is a list', { 'k:[1]': {} }],
    ['a key without members', { 'k:{}': {} }],
    ['a key of objects', { 'k:{"a":{}}': {} }],
    ['a key of prototypes', { 'k:{"__proto__":1}': {} }],
    ['an index that is no number', { 'i:x': {} }],
    ['a prototype', { 'f:__proto__': {} }],
    ['depth', deep(66)],
    ['depth in items', { [`v:${'['.repeat(10_000)}`]: {} }],
    ['size', Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`f:${i}`, {}]))],
  ])('rejects %s', (_, value) => {
    expect(() => parseFieldsV1(value)).toThrow(FieldsV1Error)
  })

  it('accepts the maximum depth', () => {
    expect(ids(parseFieldsV1(deep(64)))).toHaveLength(1)
  })
})

describe('pathText', () => {
  it.each<[FieldPath, string]>([
    [[fieldElement('spec'), fieldElement('roles'), keyElement([['role', 'r1']])], '.spec.roles[role="r1"]'],
    [
      [
        keyElement([
          ['b', 2],
          ['a', 'x'],
        ]),
      ],
      '[a="x",b=2]',
    ],
    [[fieldElement('finalizers'), valueElement('a')], '.finalizers[="a"]'],
    [[fieldElement('l'), indexElement(0)], '.l[0]'],
    [[valueElement('é\u0007\u2028"😀\u{e0001}\x7f')], '[="é\\a\\u2028\\"😀\\U000e0001\\x7f"]'],
    [[valueElement(true)], '[=true]'],
  ])('%#', (path, text) => {
    expect(pathText(path)).toBe(text)
  })
})
