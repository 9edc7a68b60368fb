import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prune } from '../../../../lib/meta/schema/prune.ts'
import type { JsonObject } from '../../../../lib/meta/types.ts'
import { example } from '../example.ts'

const { schema } = example

test.each<[string, JsonObject, JsonObject, string[]]>([
  [
    'removes null members, in maps too',
    { spec: { displayName: null, identity: { extraClaims: { a: null, b: 'c' } } } },
    { spec: { identity: { extraClaims: { b: 'c' } } } },
    [],
  ],
  ['reports unknown members that are null', { spec: { foo: null } }, { spec: {} }, ['spec.foo']],
  ['keeps null list items', { spec: { groups: ['a', null] } }, { spec: { groups: ['a', null] } }, []],
  ['keeps empty lists and objects', { spec: { groups: [], scope: {} } }, { spec: { groups: [], scope: {} } }, []],
  ['keeps values of a wrong type', { spec: { ttl: 'x', scope: 5 } }, { spec: { ttl: 'x', scope: 5 } }, []],
  [
    'reports the members of an object in place of a list',
    { spec: { groups: { a: 'b' } } },
    { spec: { groups: {} } },
    ['spec.groups.a'],
  ],
  [
    'reports the members of an object in place of a string',
    { spec: { ttl: { a: { b: 1 } } } },
    { spec: { ttl: {} } },
    ['spec.ttl.a'],
  ],
  [
    'reports the members inside a list in place of an object',
    { spec: { scope: [[{ a: 1 }], 2] } },
    { spec: { scope: [[{}], 2] } },
    ['spec.scope[0][0].a'],
  ],
  ['keeps a spec of a wrong type', { spec: 'text', status: [] }, { spec: 'text', status: [] }, []],
  ['drops a null spec', { spec: null }, {}, []],
  ['drops computed fields without a report', { status: { phase: 'Forged' } }, { status: {} }, []],
  ['treats member names as case-sensitive', { spec: { TTL: 1 } }, { spec: {} }, ['spec.TTL']],
  [
    'treats names of prototype members as unknown fields',
    { spec: { constructor: {}, hasOwnProperty: 1 }, toString: 1 },
    { spec: {} },
    ['spec.constructor', 'spec.hasOwnProperty', 'toString'],
  ],
  ['ignores apiVersion, kind and metadata', { apiVersion: 'x', kind: 'y', metadata: { foo: 1 } }, {}, []],
  [
    'reports unknown fields in byte order',
    { spec: { b: 1, a: 1, '\u{1F600}': 1, '\uFFFD': 1, B: 1 } },
    { spec: {} },
    ['spec.B', 'spec.a', 'spec.b', 'spec.\uFFFD', 'spec.\u{1F600}'],
  ],
])('%s', (_, input, object, unknown) => {
  expect(prune(input, schema)).toEqual({ object, unknown, deprecated: [] })
})

test('keeps nulls on request, because an apply rejects them later', () => {
  expect(prune({ spec: { displayName: null } }, schema, { keepNulls: true }).object).toEqual({
    spec: { displayName: null },
  })
})

test('reports at most 100 unknown fields and shortens long names', () => {
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`field${index}`, index]))
  const long = 'x'.repeat(100_000)
  const { object, unknown } = prune({ spec: { ...many, identity: { extraClaims: { [long]: many } } } }, schema)
  expect(unknown).toHaveLength(100)
  expect(Math.max(...unknown.map((path) => path.length))).toBeLessThan(400)
  expect(Object.keys(object.spec ?? {})).toEqual(['identity'])
  const claims = { identity: { extraClaims: { [long]: { a: 1 } } } }
  expect(prune({ spec: claims }, schema).unknown).toEqual([`spec.identity.extraClaims.${'x'.repeat(256)}....a`])
})

test('drops the status of a kind without status', () => {
  expect(prune({ status: {} }, { spec: schema.spec }).unknown).toEqual(['status'])
})

test('treats a member __proto__ as an unknown field', () => {
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

test('does not change the input, and is idempotent', () => {
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

test('shares nothing with the input', () => {
  const input = { spec: { groups: ['a'], identity: { extraClaims: { a: 'b' } } } }
  const { object } = prune(input, schema)
  const spec = object.spec as typeof input.spec
  spec.groups.push('x')
  spec.identity.extraClaims.a = 'x'
  expect(input).toEqual({ spec: { groups: ['a'], identity: { extraClaims: { a: 'b' } } } })
})
