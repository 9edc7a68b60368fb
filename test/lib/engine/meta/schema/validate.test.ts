import { Ajv } from 'ajv'
import formatsPlugin from 'ajv-formats'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { openApiSchema } from '../../../../../lib/engine/documents/openapischema.ts'
import { aggregate, toCause } from '../../../../../lib/engine/meta/errors/fielderror.ts'
import { validateSchema } from '../../../../../lib/engine/meta/schema/validate.ts'
import type { JsonValue } from '../../../../../lib/engine/meta/types.ts'
import { played, runs } from '../../../../support/effort.ts'
import { example } from '../example.ts'
import cases from './vectors/validate.cases.json' with { type: 'json' }

const { schema } = example

const textsOf = (spec: JsonValue): string[] =>
  validateSchema({ spec }, schema).map(({ type, field, message }) => `${type} ${field}: ${message}`)

const wrongType = (field: string, expected: string, actual: string): string =>
  `FieldValueTypeInvalid ${field}: Invalid value: "${actual}": ${field} in body must be of type ${expected}: "${actual}"`

test('distinguishes floating-point numbers from integers, but accepts whole ones', () => {
  const messagesOf = (spec: JsonValue, ...paths: string[]): string[] =>
    validateSchema({ spec }, schema, '', undefined, new Map(paths.map((path) => [path, '']))).map(
      ({ message }) => message,
    )
  expect(messagesOf({ ttl: 5 }, 'spec.ttl')).toEqual([])
  expect(messagesOf({ ttl: 9007199254740992n }, 'spec.ttl')).toEqual([
    'Invalid value: "number": spec.ttl in body must be of type integer: "number"',
  ])
  expect(messagesOf({ ttl: -1000000 }, 'spec.ttl')).toEqual([
    'Invalid value: -1e+06: spec.ttl in body should be greater than or equal to 0',
  ])
  expect(messagesOf({ displayName: 5, groups: ['a', 7, 8] }, 'spec.displayName', 'spec.groups[1]')).toEqual([
    'Invalid value: "number": spec.displayName in body must be of type string: "number"',
    'Invalid value: "number": spec.groups[1] in body must be of type string: "number"',
    'Invalid value: "integer": spec.groups[2] in body must be of type string: "integer"',
  ])
  const unchanged = { spec: { ttl: 9007199254740992n } }
  expect(validateSchema(unchanged, schema, '', unchanged)).toEqual([])
  expect(validateSchema(unchanged, schema, '', unchanged, new Map([['spec.ttl', '9007199254740992.0']]))).toHaveLength(
    1,
  )
})

// Source: responses of kube-apiserver 1.34.4, otherwise of k8s.io/kube-openapi v0.0.0-20250710.
test.each([
  ...(cases.specs as [JsonValue, string[]][]),
  [{ ttl: 9223372036854775807n }, []],
  [{ ttl: 9223372036854775808n }, [wrongType('spec.ttl', 'integer', 'number')]],
])('#%# %o', (spec, texts) => expect(textsOf(spec)).toEqual(texts))

describe('status', () => {
  const texts = (status: JsonValue, subresource: '' | 'status') =>
    validateSchema({ spec: 5, status }, subresource === '' ? { status: schema.status } : schema, subresource).map(
      toCause,
    )

  test('starts paths in messages at status on its own endpoint, and those in causes at the root', () => {
    expect(texts({ conditions: [{ type: 5 }] }, 'status')).toEqual([
      {
        reason: 'FieldValueTypeInvalid',
        field: 'status.conditions[0].type',
        message: 'Invalid value: "integer": conditions[0].type in body must be of type string: "integer"',
      },
      { reason: 'FieldValueRequired', field: 'status.conditions[0].status', message: 'Required value' },
    ])
    expect(texts('x', 'status')).toEqual([
      {
        reason: 'FieldValueTypeInvalid',
        field: 'status',
        message: 'Invalid value: "string":  in body must be of type object: "string"',
      },
    ])
  })

  test('starts all paths at the root on other endpoints', () =>
    expect(texts({ conditions: 5 }, '')[0]?.message).toBe(
      'Invalid value: "integer": status.conditions in body must be of type array: "integer"',
    ))

  test('reports items with equal keys as duplicates', () => {
    const one = { type: 'A', status: 'True' }
    expect(texts({ conditions: [one, { ...one, status: 'False' }, { ...one }] }, 'status')).toEqual([
      { reason: 'FieldValueDuplicate', field: 'status.conditions[1]', message: 'Duplicate value: {"type":"A"}' },
    ])
  })

  test('reports duplicates that an update adds to a list without any', () => {
    const update = { spec: { groups: ['a', 'b', 'a'] } }
    const found = validateSchema(update, schema, '', { spec: { groups: ['a', 'b'] } })
    expect(found.map(({ type, field }) => [type, field])).toEqual([['FieldValueDuplicate', 'spec.groups[2]']])
  })

  test('requires the items of a map list to be objects', () =>
    expect(texts({ conditions: [{ type: 'A', status: 'x' }, 'x'] }, 'status').map(({ message }) => message)).toEqual([
      'Invalid value: "string": conditions[1] in body must be of type object: "string"',
      'Invalid value: "x": must be an object for an array of list-type map',
    ]))

  test('shows an item of a map list that is written in floating point as Go does', () => {
    const object = { status: { conditions: [9007199254740992] } }
    const floats = new Map([['status.conditions[0]', '9007199254740992.0']])
    expect(validateSchema(object, schema, 'status', undefined, floats).map(({ message }) => message)).toEqual([
      'Invalid value: "number": conditions[0] in body must be of type object: "number"',
      'Invalid value: 9.007199254740992e+15: must be an object for an array of list-type map',
    ])
  })
})

test('limits the number of errors', () => {
  const groups = Array.from({ length: 130_000 }, () => 0)
  expect(validateSchema({ spec: { groups } }, schema).length).toBeLessThan(1000)
})

test('combines several errors in one message', () =>
  expect(aggregate(validateSchema({ spec: { ttl: 'x', disabled: 'y' } }, schema))).toBe(
    '[spec.disabled: Invalid value: "string": spec.disabled in body must be of type boolean: "string", spec.ttl: Invalid value: "string": spec.ttl in body must be of type integer: "string"]',
  ))

describe('write-only fields', () => {
  test('are redacted in messages', () =>
    expect(textsOf({ key: 's3c' })).toEqual([
      'FieldValueInvalid spec.key: Invalid value: <redacted>: spec.key in body should be at least 4 chars long',
      'FieldValueTypeInvalid spec.key: Invalid value: <redacted>: spec.key in body must be of type uri: <redacted>',
      'FieldValueNotSupported spec.key: Unsupported value: <redacted>: supported values: "scheme:good"',
    ]))

  test('are redacted even if their type is wrong', () => {
    expect(textsOf({ key: 4711 }).join()).not.toContain('4711')
    expect(textsOf({ key: { deep: 's3cret' }, identity: { connectorData: ['s3cret'] } }).join()).not.toContain('s3cret')
  })
})

describe('stored values', () => {
  const old = {
    spec: { displayName: 'x'.repeat(30), ttl: -1, groups: ['a', 'a'], identity: { email: 5, extraClaims: { a: 1 } } },
  }

  test('are accepted while they do not change', () => {
    expect(validateSchema(old, schema, '', old)).toEqual([])
    const spec = { ...old.spec, disabled: true, identity: { email: 5, extraClaims: { a: 1, b: 'x' } } }
    expect(validateSchema({ spec }, schema, '', old)).toEqual([])
  })

  test('are validated when they change', () => {
    const spec = { ...old.spec, ttl: -2, identity: { email: 5, extraClaims: { a: 2 } } }
    expect(validateSchema({ spec }, schema, '', old).map(({ field }) => field)).toEqual([
      'spec.identity.extraClaims.a',
      'spec.ttl',
    ])
  })
})

test('agrees with Ajv on which values are valid', () => {
  const ajv = new Ajv({ strict: false })
  formatsPlugin.default(ajv)
  const published = openApiSchema(schema.spec) as { properties: { size: object } }
  // A maximum of its own replaces that of int32.
  const properties = { ...published.properties, size: { ...published.properties.size, format: 'int64' } }
  const isValid = ajv.compile({ ...published, properties })
  const leaf = fc.constantFrom<JsonValue>(
    null,
    true,
    0,
    -1,
    7,
    1.5,
    2 ** 31,
    4e9,
    '',
    'x',
    'User',
    'abcdefghi',
    'x'.repeat(21),
    '☂'.repeat(20),
    'scheme:good',
    'not a uri',
    '2024-01-01T00:00:00Z',
  )
  const name = fc.constantFrom(
    'displayName',
    'type',
    'ttl',
    'size',
    'disabled',
    'groups',
    'code',
    'server',
    'scope',
    'roles',
    'role',
    'projects',
    'identity',
    'extraClaims',
    'identityRefresh',
    'key',
    'foo',
  )
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }) as fc.Arbitrary<JsonValue>,
    ),
  }))
  const role = fc.record(
    { role: fc.oneof(leaf, fc.constant('agent')), projects: value },
    { requiredKeys: [], noNullPrototype: true },
  )
  const fitting = fc.record(
    {
      displayName: leaf,
      type: leaf,
      ttl: leaf,
      size: leaf,
      disabled: leaf,
      code: leaf,
      server: leaf,
      groups: fc.oneof(fc.array(leaf, { maxLength: 4 }), value),
      scope: fc.record({ roles: fc.array(role, { maxLength: 2 }) }, { noNullPrototype: true }),
      identity: fc.record(
        { extraClaims: fc.dictionary(name, leaf, { maxKeys: 2, noNullPrototype: true }), identityRefresh: leaf },
        { requiredKeys: [], noNullPrototype: true },
      ),
    },
    { requiredKeys: [], noNullPrototype: true },
  )
  const verdicts = { valid: 0, invalid: 0 }
  fc.assert(
    fc.property(fc.oneof(value, fitting as fc.Arbitrary<JsonValue>), (spec) => {
      const errors = validateSchema({ spec }, schema).filter(({ type }) => type !== 'FieldValueDuplicate')
      expect(errors.length === 0).toBe(isValid(spec))
      verdicts[errors.length === 0 ? 'valid' : 'invalid']++
    }),
    runs(3000),
  )
  expect(verdicts.valid).toBeGreaterThan(played(100))
  expect(verdicts.invalid).toBeGreaterThan(played(100))
})
