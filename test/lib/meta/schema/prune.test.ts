import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prune } from '../../../../lib/meta/schema/prune.ts'
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { example } from '../example.ts'

const { schema } = example

test.each<[string, JsonObject, JsonObject, string[]]>([
  [
    'null members go, in maps too',
    { spec: { displayName: null, identity: { extraClaims: { a: null, b: 'c' } } } },
    { spec: { identity: { extraClaims: { b: 'c' } } } },
    [],
  ],
  ['unknown null members are still unknown', { spec: { foo: null } }, { spec: {} }, ['spec.foo']],
  ['null list items stay', { spec: { groups: ['a', null] } }, { spec: { groups: ['a', null] } }, []],
  ['empty lists and objects stay', { spec: { groups: [], scope: {} } }, { spec: { groups: [], scope: {} } }, []],
  ['values of a wrong type stay', { spec: { ttl: 'x', scope: 5 } }, { spec: { ttl: 'x', scope: 5 } }, []],
  [
    'what is in an object for a list is unknown',
    { spec: { groups: { a: 'b' } } },
    { spec: { groups: {} } },
    ['spec.groups.a'],
  ],
  [
    'what is in an object for a text is unknown',
    { spec: { ttl: { a: { b: 1 } } } },
    { spec: { ttl: {} } },
    ['spec.ttl.a'],
  ],
  [
    'what is in a list for an object is unknown',
    { spec: { scope: [[{ a: 1 }], 2] } },
    { spec: { scope: [[{}], 2] } },
    ['spec.scope[0][0].a'],
  ],
  ['spec of a wrong type stays', { spec: 'text', status: [] }, { spec: 'text', status: [] }, []],
  ['null spec goes', { spec: null }, {}, []],
  ['computed fields go silently', { status: { phase: 'Forged' } }, { status: {} }, []],
  ['member names are case-sensitive', { spec: { TTL: 1 } }, { spec: {} }, ['spec.TTL']],
  [
    'names of the prototype are no fields',
    { spec: { constructor: {}, hasOwnProperty: 1 }, toString: 1 },
    { spec: {} },
    ['spec.constructor', 'spec.hasOwnProperty', 'toString'],
  ],
  ["apiVersion, kind and metadata are others' matter", { apiVersion: 'x', kind: 'y', metadata: { foo: 1 } }, {}, []],
  [
    'unknown fields are in order of bytes',
    { spec: { b: 1, a: 1, '\u{1F600}': 1, '\uFFFD': 1, B: 1 } },
    { spec: {} },
    ['spec.B', 'spec.a', 'spec.b', 'spec.\uFFFD', 'spec.\u{1F600}'],
  ],
])('%s', (_, input, object, unknown) => {
  expect(prune(input, schema)).toEqual({ object, unknown, deprecated: [] })
})

test('nulls can be kept, for an apply that must refuse them', () => {
  expect(prune({ spec: { displayName: null } }, schema, { keepNulls: true }).object).toEqual({
    spec: { displayName: null },
  })
})

test('at most 100 unknown fields are named, with their long names cut', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, index]))
  const long = 'x'.repeat(100_000)
  const { object, unknown } = prune({ spec: { ...many, identity: { extraClaims: { [long]: many } } } }, schema)
  expect(unknown).toHaveLength(100)
  expect(Math.max(...unknown.map((path) => path.length))).toBeLessThan(400)
  expect(Object.keys(object.spec ?? {})).toEqual(['identity'])
  const claims = { identity: { extraClaims: { [long]: { a: 1 } } } }
  expect(prune({ spec: claims }, schema).unknown).toEqual([`spec.identity.extraClaims.${'x'.repeat(256)}....a`])
})

test('a kind without status does not know it', () => {
  expect(prune({ status: {} }, { spec: schema.spec }).unknown).toEqual(['status'])
})

test('a member __proto__ that a decoder let through is an unknown field', () => {
  const input = JSON.parse('{"spec":{"__proto__":{"ttl":1},"identity":{"extraClaims":{"__proto__":"x"}}}}')
  const { object, unknown } = prune(input, schema)
  expect(unknown).toEqual(['spec.__proto__'])
  expect(Object.getPrototypeOf(object.spec)).toBe(Object.prototype)
  expect(JSON.stringify(object)).toBe('{"spec":{"identity":{"extraClaims":{"__proto__":"x"}}}}')
})

const names = fc.constantFrom(
  'groups',
  'ttl',
  'scope',
  'roles',
  'role',
  'identity',
  'extraClaims',
  'foo',
  'parent',
  'rules',
  'constructor',
)
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(null, 'x', 1, true),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(names, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value

const freeze = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

test('the input stays as it is, and pruning again finds nothing', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom('spec', 'status', 'foo'), anything, { noNullPrototype: true }),
      (input) => {
        const once = prune(freeze(input) as JsonObject, schema)
        const again = prune(once.object, schema)
        expect(again.object).toEqual(once.object)
        expect(again.unknown).toEqual([])
      },
    ),
    { seed: 1, numRuns: 500 },
  )
})

test('nothing is shared with the input', () => {
  const input = { spec: { groups: ['a'], identity: { extraClaims: { a: 'b' } } } }
  const { object } = prune(input, schema)
  const spec = object.spec as typeof input.spec
  spec.groups.push('x')
  spec.identity.extraClaims.a = 'x'
  expect(input).toEqual({ spec: { groups: ['a'], identity: { extraClaims: { a: 'b' } } } })
})
