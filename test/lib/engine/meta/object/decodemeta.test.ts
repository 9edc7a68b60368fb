import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseJson } from '../../../../../lib/engine/meta/encoding/json.ts'
import { decodeMeta } from '../../../../../lib/engine/meta/object/decodemeta.ts'
import { validateMeta } from '../../../../../lib/engine/meta/object/validatemeta.ts'

interface Vector {
  input: string
  error?: string
  metadata?: string
  unknown?: string[]
  findings?: { type: string; text: string }[]
}

/** Results of k8s.io/apimachinery v0.34.4 for the same JSON. */
const vectors = (name: string): Vector[] =>
  JSON.parse(readFileSync(new URL(`../vectors/objectmeta.${name}.json`, import.meta.url), 'utf8'))

describe('decodeMeta agrees with Go', () => {
  test.each(vectors('decode'))('$input', ({ input, error, metadata, unknown = [] }) => {
    const { value } = parseJson(input)
    if (error !== undefined) {
      expect(() => decodeMeta(value)).toThrow(expect.objectContaining({ name: 'GoDecodeError', message: error }))
      return
    }
    const decoded = decodeMeta(value)
    expect(decoded.metadata).toEqual(parseJson(metadata ?? '').value)
    expect(decoded.unknown).toEqual(unknown.map((path) => `metadata.${path}`))
  })

  test('rejects times outside the years of RFC 3339, where Go would write five digits', () => {
    const creationTimestamp = '9999-12-31T23:59:59-01:00'
    expect(() => decodeMeta({ creationTimestamp })).toThrow(`parsing time "${creationTimestamp}": year out of range`)
  })

  test('drops the zero time', () =>
    expect(decodeMeta({ deletionTimestamp: '0001-01-01T02:00:00+02:00' }).metadata).toEqual({}))

  test('reports names of prototype members as unknown', () =>
    expect(decodeMeta({ constructor: 'x', toString: 1, labels: { valueOf: 'y' } })).toEqual({
      metadata: { labels: { valueOf: 'y' } },
      unknown: ['metadata.constructor', 'metadata.toString'],
    }))

  test('reports at most 100 unknown members', () => {
    const members = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, 1]))
    expect(decodeMeta(members).unknown).toHaveLength(100)
  })

  test('throws for malformed members, or omits them if lenient', () => {
    const input = { name: 'n', creationTimestamp: 'x', generation: 1.5, finalizers: 'f', labels: { a: 'b' } }
    expect(() => decodeMeta(input)).toThrow('parsing time "x"')
    expect(decodeMeta(input, { lenient: true }).metadata).toEqual({ name: 'n', labels: { a: 'b' } })
  })

  test('shares nothing with the input', () => {
    const input = { managedFields: [{ fieldsV1: { 'f:spec': {} } }], labels: { a: 'b' } }
    const { metadata } = decodeMeta(input)
    if (metadata.labels) metadata.labels.a = 'changed'
    const fields = metadata.managedFields?.[0]?.fieldsV1
    if (fields) fields['f:spec'] = 'changed'
    expect(input).toEqual({ managedFields: [{ fieldsV1: { 'f:spec': {} } }], labels: { a: 'b' } })
  })
})

describe('validateMeta agrees with Go', () => {
  test.each(vectors('validate'))('$input', ({ input, findings = [] }) => {
    const { metadata } = decodeMeta(parseJson(input).value)
    const found = validateMeta(metadata, { namespaced: false })
    expect(found.map(({ type, field, message }) => ({ type, text: `${field}: ${message}` }))).toEqual(findings)
  })
})
