import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { redactJson } from '../../../../../lib/engine/meta/schema/redact.ts'
import { list, object, string } from '../../../../../lib/engine/meta/schema/schema.ts'
import { joinWriteOnly, splitWriteOnly, writeOnlyFields } from '../../../../../lib/engine/meta/schema/writeonly.ts'
import type { JsonObject, KubeObject } from '../../../../../lib/engine/meta/types.ts'
import { example } from '../example.ts'
import cases from './vectors/writeonly.cases.json' with { type: 'json' }

const { schema } = example
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration'
const SECRET = 'mpk_5ecret'

const objectOf = (spec?: JsonObject, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'example.test/v1',
  kind: 'Example',
  metadata: { name: 'a', ...(annotations && { annotations }) },
  ...(spec && { spec }),
})

const objectWithManifest = (text: string) => objectOf(undefined, { [LAST_APPLIED]: text, other: 'kept' })
const lastApplied = (text: string) =>
  splitWriteOnly(objectWithManifest(text), schema).object.metadata.annotations?.[LAST_APPLIED]

test('finds the write-only fields of a schema', () => {
  expect(writeOnlyFields(schema).map(({ path }) => path.join('.'))).toEqual(['spec.key', 'spec.identity.connectorData'])
})

test('rejects a schema with a write-only field in a list', () => {
  const spec = object('', { items: list('', object('', { token: string('', { writeOnly: 'never' }) })) })
  expect(() => writeOnlyFields({ spec })).toThrow('write-only field spec.items.token is inside a list or map')
})

describe('splitting off write-only values', () => {
  test.each([
    ...(cases.fromLeaves as [JsonObject | undefined, JsonObject | undefined, [string, unknown][]][]),
    [undefined, undefined, []],
  ])('from %j leaves %j', (spec, left, secrets) => {
    const input = objectOf(spec)
    const before = structuredClone(input)
    const split = splitWriteOnly(input, schema)
    expect(split.object).toEqual(objectOf(left))
    expect(split.secrets.map(({ path, value }) => [path.join('.'), value])).toEqual(secrets)
    expect(input).toEqual(before)
  })

  test('and joining them restores the object', () => {
    const input = objectOf({ key: SECRET, identity: { connectorData: 'x', email: 'e' }, ttl: 1 })
    const { object, secrets } = splitWriteOnly(input, schema)
    expect(joinWriteOnly(object, secrets)).toEqual(input)
    expect(joinWriteOnly(objectOf(), secrets)).toEqual(objectOf({ key: SECRET, identity: { connectorData: 'x' } }))
    expect(object.spec).toEqual({ identity: { email: 'e' }, ttl: 1 })
  })
})

describe("kubectl's copy of the manifest", () => {
  test.each(cases.manifests as [string, string, string][])('%s', (_, text, left) =>
    expect(lastApplied(text)).toBe(left),
  )

  test.each([
    `{"spec":{"key":"${SECRET}"}`,
    `"${SECRET}"`,
    `["${SECRET}"]`,
    `{"spec":["${SECRET}"]}`,
    `{"spec":"${SECRET}"}`,
    `{"spec":{"identity":["${SECRET}"]}}`,
    `{"__proto__":{"key":"${SECRET}"}}`,
    `${'['.repeat(100_000)}`,
    '',
  ])('is removed if it does not match the schema: %#', (text) => {
    const { object } = splitWriteOnly(objectWithManifest(text), schema)
    expect(object.metadata.annotations).toEqual({ other: 'kept' })
  })

  test('stays unchanged for a kind without write-only fields', () => {
    const input = objectWithManifest(SECRET)
    expect(splitWriteOnly(input, { spec: object('', {}) }).object).toEqual(input)
  })

  test('leaves no empty annotations', () => {
    const { object } = splitWriteOnly(objectOf(undefined, { [LAST_APPLIED]: '' }), schema)
    expect(object.metadata).toEqual({ name: 'a' })
  })
})

test('redaction keeps only the readable fields that the schema describes', () => {
  const value = {
    apiVersion: 'example.test/v1',
    metadata: { name: 'a', annotations: { [LAST_APPLIED]: SECRET, x: 'y' } },
    spec: {
      key: SECRET,
      Key: SECRET,
      ttl: 5,
      displayName: [SECRET],
      identity: { email: 'e', connectorData: 5 },
      scope: null,
    },
    status: { phase: 'Ready' },
    other: SECRET,
  }
  expect(redactJson(value, schema)).toEqual({
    apiVersion: 'example.test/v1',
    metadata: { name: 'a', annotations: { [LAST_APPLIED]: '<redacted>', x: 'y' } },
    spec: {
      key: '<redacted>',
      Key: '<redacted>',
      ttl: 5,
      displayName: '<redacted>',
      identity: { email: 'e', connectorData: '<redacted>' },
      scope: null,
    },
    status: { phase: 'Ready' },
    other: '<redacted>',
  })
})

// threat: storage-3
test('removes a secret wherever it occurs', () => {
  const place = fc.constantFrom('key', 'Key', 'identity', 'connectorData', 'scope', 'roles', 'groups', 'spec', 'x')
  const hidden = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant({ key: SECRET }),
      fc.constant({ identity: { connectorData: SECRET } }),
      fc.array(tie('value'), { minLength: 1, maxLength: 2 }),
      fc.dictionary(place, tie('value'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
    ),
  })).value
  fc.assert(
    fc.property(hidden, (spec) => {
      expect(lastApplied(JSON.stringify({ spec })) ?? '').not.toContain(SECRET)
      expect(JSON.stringify(redactJson({ spec } as JsonObject, schema))).not.toContain(SECRET)
    }),
    { seed: 3, numRuns: 500 },
  )
})

test.each([
  [null, null],
  ['text', 'text'],
  [{ annotations: null }, { annotations: null }],
  [{ annotations: [LAST_APPLIED] }, { annotations: [LAST_APPLIED] }],
  [{ annotations: { [LAST_APPLIED]: { spec: { key: SECRET } }, x: 'y' } }, { annotations: { x: 'y' } }],
  [{ annotations: { [LAST_APPLIED]: 5 } }, {}],
])('accepts any JSON as the metadata of a configuration: %j', (metadata, expected) => {
  const object = { apiVersion: 'v1', kind: 'K', metadata } as KubeObject
  expect(splitWriteOnly(object, schema).object.metadata).toEqual(expected)
})
