import { describe, expect, test } from 'vitest'
import {
  checkApiVersion,
  decodeApplied,
  decodeObject,
  decodePatched,
  fieldFindings,
  strictDecodingError,
  typeErrors,
} from '../../../../../lib/engine/meta/decoding/decode.ts'
import { parseJson } from '../../../../../lib/engine/meta/encoding/json.ts'
import { StatusError } from '../../../../../lib/engine/meta/errors/status.ts'
import type { JsonValue, KubeObject, Status } from '../../../../../lib/engine/meta/types.ts'
import { example } from '../example.ts'
import cases from './vectors/decode.cases.json' with { type: 'json' }

/** Decodes a body as the handlers do, which judge unknown fields in between. */
function decodeBody(value: JsonValue): KubeObject {
  const { object } = decodeObject(value, example)
  checkApiVersion(object, example)
  return object
}

const type = { apiVersion: 'example.test/v1', kind: 'Example' }

function refusal(act: () => unknown): Status {
  try {
    act()
  } catch (error) {
    if (error instanceof StatusError) return error.status
    throw error
  }
  throw new Error('nothing was refused')
}

describe('decodeObject accepts', () => {
  test('a valid object, and drops null and empty members of metadata', () => {
    const value = {
      ...type,
      metadata: { name: 'a', creationTimestamp: null, labels: {}, finalizers: [], selfLink: '/x' },
      spec: { ttl: 5 },
      status: {},
    }
    expect(decodeObject(value, example)).toEqual({
      object: { ...type, metadata: { name: 'a' }, spec: { ttl: 5 }, status: {} },
      unknown: [],
      warnings: [],
    })
  })

  test('an object without metadata', () => {
    expect(decodeObject(type, example).object).toEqual({ ...type, metadata: {} })
    expect(decodeObject({ ...type, metadata: null, spec: null }, example).object).toEqual({ ...type, metadata: {} })
  })

  test.each([{}, { apiVersion: '', kind: null }, { kind: 'Example' }, { apiVersion: type.apiVersion }, type])(
    '%j means the kind of the endpoint',
    (value) => expect(decodeObject(value, example).object).toEqual({ ...type, metadata: {} }),
  )

  test('unknown fields, which it reports: first those of metadata, then the others by path', () => {
    const value = {
      ...type,
      metadata: { name: 'a', color: 'x' },
      spec: { scope: { color: 'y', roles: [{ role: 'agent', color: 'z' }] }, kind: 1, Ttl: 5 },
      color: 'w',
    }
    const { object, unknown } = decodeObject(value, example)
    expect(unknown).toEqual([
      'metadata.color',
      'color',
      'spec.Ttl',
      'spec.kind',
      'spec.scope.color',
      'spec.scope.roles[0].color',
    ])
    expect(object).toEqual({ ...type, metadata: { name: 'a' }, spec: { scope: { roles: [{ role: 'agent' }] } } })
  })

  test('duplicate fields, which it reports before unknown fields', () =>
    expect(fieldFindings(['spec.ttl'], ['metadata.foo', 'x'])).toEqual([
      'duplicate field "spec.ttl"',
      'unknown field "metadata.foo"',
      'unknown field "x"',
    ]))

  test('deprecated fields, with a warning if they are in use', () => {
    const inner = { rules: [{ old: 'x' }], roles: [] }
    expect(decodeObject({ ...type, spec: { parent: 'p', scope: inner } }, example).warnings).toEqual([
      'spec.parent: deprecated since v1; use spec.identity instead',
      'spec.scope.rules: deprecated since v1; use spec.scope.roles instead',
    ])
    expect(decodeObject({ ...type, spec: { parent: '', scope: { rules: [] } } }, example).warnings).toEqual([])
  })
})

describe('decodeObject rejects', () => {
  test.each(cases.refused as [JsonValue, string][])('%j with 400', (value, message) =>
    expect(refusal(() => decodeBody(value))).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'BadRequest',
      code: 400,
    }),
  )

  test('an applied object of a wrong kind with 422 on the field kind, using the kind in the request', () => {
    const status = refusal(() => decodeApplied({ ...type, kind: 'Other', metadata: { name: 'a' } }, example))
    expect(status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: 'Other.example.test "a" is invalid: kind: Invalid value: "Other": must be Example',
      details: {
        name: 'a',
        group: 'example.test',
        kind: 'Other',
        causes: [{ reason: 'FieldValueInvalid', field: 'kind', message: 'Invalid value: "Other": must be Example' }],
      },
    })
  })

  test('unknown fields with fieldValidation=Strict with 400 and every error', () => {
    const status = strictDecodingError(type, example, ['duplicate field "spec.a"', 'unknown field "spec.b"']).status
    expect(status.code).toBe(400)
    expect(status.message).toBe(
      'Example in version "v1" cannot be handled as a Example: strict decoding error: duplicate field "spec.a", unknown field "spec.b"',
    )
  })
})

describe('decodePatched', () => {
  const refusalOfPatched = (value: JsonValue) => refusal(() => decodePatched(value, example))

  test('rejects wrong types in metadata with 422 on the field patch', () =>
    expect(refusalOfPatched({ ...type, metadata: { labels: { a: 5 } } })).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message:
        ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"example.test/v1\\",\\"kind\\":\\"Example\\",\\"metadata\\":{\\"labels\\":{\\"a\\":5}}}": json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'patch' }] },
    }))

  test('leaves a wrong apiVersion or kind to the registry, which reports both', () => {
    const { object } = decodePatched({ apiVersion: 'example.test/v2', kind: 'Other' }, example)
    expect(typeErrors(object, example).map(({ field }) => field)).toEqual(['kind', 'apiVersion'])
  })

  test('strict errors with 422 on the field patch', () => {
    const { status } = strictDecodingError(type, example, ['unknown field "spec.unk"'], 'patch')
    expect(status.message).toBe(
      ' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":\\"example.test/v1\\",\\"kind\\":\\"Example\\"}": strict decoding error: unknown field "spec.unk"',
    )
  })
})

describe('errors never contain a secret', () => {
  const secret = 'mpk_secret'
  const bodies: JsonValue[] = [
    { metadata: { name: 'a' }, spec: { key: secret } },
    { spec: { key: secret } },
    { spec: secret },
    { Spec: { key: secret } },
    { key: secret },
    { spec: { Key: secret, identity: { connectorData: { deep: secret } }, scope: [secret] } },
    { metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secret } } },
    { metadata: [secret] },
    { metadata: secret },
    [secret],
    secret,
  ]
  const wrongs = [{ apiVersion: 5 }, { kind: [] }, { ...type, metadata: 7 }]

  test.each(bodies.flatMap((body) => wrongs.map((wrong): [JsonValue, JsonValue] => [body, wrong])))(
    '%j with %j',
    (body, wrong) => {
      const value = typeof body === 'object' && !Array.isArray(body) ? { ...body, ...(wrong as object) } : body
      for (const source of ['body', 'patch'] as const) {
        const decode = source === 'patch' ? decodePatched : decodeObject
        const status = refusal(() => decode(value as JsonValue, example))
        expect(JSON.stringify(status)).not.toContain(secret)
        expect(JSON.stringify(status)).not.toContain(Buffer.from(secret).toString('hex'))
        const strict = strictDecodingError(value as JsonValue, example, ['unknown field "x"'], source)
        expect(JSON.stringify(strict.status)).not.toContain(secret)
      }
    },
  )
})

test('errors do not quote a long body in full', () => {
  const status = refusal(() =>
    decodeObject({ apiVersion: 'a/b/c', metadata: { annotations: { a: 'x'.repeat(1_000_000) } } }, example),
  )
  expect(status.message?.length).toBeLessThan(20_000)
})

test('preserves 64-bit integers', () => {
  const { value } = parseJson('{"apiVersion":"example.test/v1","kind":"Example","spec":{"ttl":9007199254740993}}')
  expect(decodeObject(value, example).object.spec).toEqual({ ttl: 9007199254740993n })
})

describe('objects of other kinds and versions', () => {
  const value = { ...type, metadata: { zzz: 1 }, spec: { ttl: 1 }, other: 1 }
  const unknownOf = (sent: object): string[] => decodeObject({ ...value, ...sent }, example).unknown

  test('report unknown fields only if the group and the kind match', () => {
    expect(unknownOf({})).toEqual(['metadata.zzz', 'other'])
    expect(unknownOf({ apiVersion: 'example.test/v2' })).toEqual(['metadata.zzz', 'other', 'spec'])
    expect(unknownOf({ apiVersion: 'v1' })).toEqual(['metadata.zzz'])
    expect(unknownOf({ kind: 'Other' })).toEqual(['metadata.zzz'])
  })

  test('may have a wrong kind, which the registry refuses, but not a wrong apiVersion', () => {
    expect(decodeBody({ ...type, kind: 'Other' }).kind).toBe('Other')
    const status = refusal(() => decodeBody({ ...type, apiVersion: 'v1' }))
    expect(status.message).toContain('the API version in the data (v1) does not match')
  })

  test.each([[{ apiVersion: 'a/b/c' }, 'unexpected GroupVersion string: a/b/c']])(
    '%j is not a version',
    (sent, message) => expect(refusal(() => decodeObject({ ...type, ...sent }, example)).message).toContain(message),
  )
})
