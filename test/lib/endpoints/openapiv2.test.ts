import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import type { OpenApiKind } from '../../../lib/endpoints/openapipaths.ts'
import { openApiV2 } from '../../../lib/endpoints/openapiv2.ts'
import { list, map, object, string } from '../../../lib/meta/schema.ts'
import { example } from '../meta/example.ts'

// Fields may be called as keywords are.
const spec = object('What is wanted.', {
  writeOnly: string('No keyword.', { writeOnly: 'once' }),
  deprecated: list('No keyword.', object('One.', { allOf: string('No keyword.', { deprecated: 'another' }) })),
  properties: map('No keyword.', string('A value.')),
})
const kind: OpenApiKind = { ...example, schema: { spec }, verbs: ['create', 'list'] }
const info = { title: 'Test', version: 'v1', license: { name: 'Apache-2.0', url: 'https://example.com' } }
const { text, hash } = openApiV2([kind], info)
const document = JSON.parse(text)
const { definitions } = document
const named = (name: string) =>
  Object.entries<Record<string, unknown>>(definitions).filter(([id]) => id.endsWith(`.${name}`))

test('is valid Swagger 2.0', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect([result.errors, result.valid, validator.version]).toEqual([undefined, true, '2.0'])
})

test('is known by what it says', () => {
  expect(openApiV2([kind], info).hash).toBe(hash)
  expect(openApiV2([kind], { ...info, version: 'v2' }).hash).not.toBe(hash)
})

describe('definitions', () => {
  test('lead to each other', () => {
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
    expect(refs.length).toBeGreaterThan(2)
    for (const ref of refs) expect(definitions).toHaveProperty([ref.replace('#/definitions/', '')])
    expect(text).not.toContain('components')
  })

  // By these names Terraform finds what a manifest is made of.
  test('are found by kind, and the metadata by its name', () => {
    const groupVersionKind = { group: kind.group, version: kind.version, kind: kind.kind }
    const [[, found] = ['', {}]] = named(kind.kind)
    expect(found).toMatchObject({ type: 'object', 'x-kubernetes-group-version-kind': [groupVersionKind] })
    const $ref = '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
    expect(found).toMatchObject({ properties: { metadata: { $ref, description: expect.any(String) } } })
    expect(definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'].properties.labels.type).toBe('object')
  })

  test('have no keyword of v3, and every field', () => {
    const [[, found] = ['', {}]] = named(kind.kind)
    expect(found).toMatchObject({
      properties: {
        spec: {
          properties: {
            writeOnly: { type: 'string', description: 'No keyword.' },
            deprecated: { items: { properties: { allOf: { type: 'string' } } } },
            properties: { additionalProperties: { type: 'string' } },
          },
        },
      },
    })
    expect(text).not.toMatch(/"(writeOnly|deprecated)":true/)
  })
})
