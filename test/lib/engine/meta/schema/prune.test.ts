import fc from 'fast-check'
import { expect, test } from 'vitest'
import { prune } from '../../../../../lib/engine/meta/schema/prune.ts'
import type { JsonObject } from '../../../../../lib/engine/meta/types.ts'
import { example } from '../example.ts'
import cases from './vectors/prune.cases.json' with { type: 'json' }

const { schema } = example

test.each(cases.pruned as [string, JsonObject, JsonObject, string[]][])('%s', (_, input, object, unknown) =>
  expect(prune(input, schema)).toEqual({ object, unknown, deprecated: [] }),
)

test('keeps nulls on request, because an apply rejects them later', () =>
  expect(prune({ spec: { displayName: null } }, schema, { keepNulls: true }).object).toEqual({
    spec: { displayName: null },
  }))

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

test('drops the status of a kind without status', () =>
  expect(prune({ status: {} }, { spec: schema.spec }).unknown).toEqual(['status']))

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
