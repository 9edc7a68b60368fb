import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import type { OpenApiKind } from '../../../../lib/engine/documents/paths.ts'
import { openApiV2 } from '../../../../lib/engine/documents/v2.ts'
import { list, map, object, string } from '../../../../lib/engine/meta/schema/schema.ts'
import { example } from '../meta/example.ts'

// Fields may have the names of keywords.
const spec = object('What is wanted.', {
  writeOnly: string('No keyword.', { writeOnly: 'once' }),
  deprecated: list('No keyword.', object('One.', { allOf: string('No keyword.', { deprecated: 'another' }) })),
  properties: map('No keyword.', string('A value.')),
})
const kind: OpenApiKind = { ...example, schema: { spec }, verbs: ['create', 'list'] }
const info = { title: 'Test', version: 'v1', license: { name: 'Apache-2.0', url: 'https://example.com' } }
const { text, protobuf, hash } = openApiV2([kind], info)
const document = JSON.parse(text)
const { definitions } = document
const definitionsNamed = (name: string) =>
  Object.entries<Record<string, unknown>>(definitions).filter(([id]) => id.endsWith(`.${name}`))

test('is valid Swagger 2.0', async () => {
  const validator = new Validator()
  const result = await validator.validate(structuredClone(document))
  expect([result.errors, result.valid, validator.version]).toEqual([undefined, true, '2.0'])
})

test('has a hash of its content', () => {
  expect(openApiV2([kind], info).hash).toBe(hash)
  expect(openApiV2([kind], { ...info, version: 'v2' }).hash).not.toBe(hash)
})

describe('definitions', () => {
  test('are the targets of all references', () => {
    const refs = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref = '']) => ref)
    expect(refs.length).toBeGreaterThan(2)
    for (const ref of refs) expect(definitions).toHaveProperty([ref.replace('#/definitions/', '')])
    expect(text).not.toContain('components')
  })

  // Terraform finds the types of a manifest by these names.
  test('are identified by kind, and the metadata by its name', () => {
    const groupVersionKind = { group: kind.group, version: kind.version, kind: kind.kind }
    const [[, found] = ['', {}]] = definitionsNamed(kind.kind)
    expect(found).toMatchObject({ type: 'object', 'x-kubernetes-group-version-kind': [groupVersionKind] })
    const $ref = '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
    expect(found).toMatchObject({ properties: { metadata: { $ref, description: expect.any(String) } } })
    expect(definitions['io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'].properties.labels.type).toBe('object')
  })

  test('have every field, and no keyword of v3', () => {
    const [[, found] = ['', {}]] = definitionsNamed(kind.kind)
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

describe('paths', () => {
  test('equal those of v3, with bodies as parameters and media types on the operation', () => {
    const base = '/apis/example.test/v1/examples'
    expect(Object.keys(document.paths)).toContain(base)
    const { post } = document.paths[base]
    expect(post.consumes).toEqual(post.produces)
    expect(post.parameters).toContainEqual(
      expect.objectContaining({ name: 'fieldValidation', in: 'query', type: 'string' }),
    )
    const schema = { $ref: '#/definitions/test.example.v1.Example' }
    expect(post.parameters).toContainEqual({
      name: 'body',
      in: 'body',
      required: true,
      schema: expect.objectContaining(schema),
    })
    expect(post.responses['201'].schema).toMatchObject(schema)
    expect(post['x-kubernetes-group-version-kind']).toEqual({ group: 'example.test', version: 'v1', kind: 'Example' })
  })
})

test('lists an ExecCredential among the types that a create produces', () => {
  const issuing = { ...kind, verbs: ['create'], credential: () => ({}) }
  const { post } = JSON.parse(openApiV2([issuing], info).text).paths['/apis/example.test/v1/examples']
  const own = ['application/json', 'application/yaml']
  const asked = own.map((type) => `${type};as=ExecCredential;g=client.authentication.k8s.io;v=v1`)
  expect([post.consumes, post.produces]).toEqual([own, [...own, ...asked]])
  expect(post.responses['201'].schema).toMatchObject({ $ref: '#/definitions/test.example.v1.Example' })
})

/** Returns the fields of a protobuf message by number. */
function fieldsOf(bytes: Buffer): Map<number, Buffer[]> {
  const fields = new Map<number, Buffer[]>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    const length = tag % 8 === 2 ? varint() : 0
    const start = at
    if (tag % 8 === 0) varint()
    else at += tag % 8 === 1 ? 8 : length
    const number = Math.floor(tag / 8)
    fields.set(number, [...(fields.get(number) ?? []), bytes.subarray(start, at)])
  }
  expect(at).toBe(bytes.length)
  return fields
}

describe('in protobuf', () => {
  const at = (bytes: Buffer | undefined, number: number): Buffer[] =>
    fieldsOf(bytes ?? Buffer.alloc(0)).get(number) ?? []
  const [paths] = at(Buffer.from(protobuf, 'latin1'), 8)
  const [all] = at(Buffer.from(protobuf, 'latin1'), 9)
  const textAt = (bytes: Buffer | undefined, number: number) => at(bytes, number)[0]?.toString()

  test('has every path and every definition', () => {
    expect(at(paths, 2).map((one) => textAt(one, 1))).toEqual(Object.keys(document.paths))
    expect(at(all, 1).map((one) => textAt(one, 1))).toEqual(Object.keys(definitions))
  })

  // Argo CD and kubectl find the schema of an object by this extension.
  test('names the kind of a definition', () => {
    const [found] = at(all, 1).filter((one) => textAt(one, 1)?.endsWith('.Example'))
    const [schema] = at(found, 2)
    const [extension] = at(schema, 31)
    expect(textAt(extension, 1)).toBe('x-kubernetes-group-version-kind')
    const value = JSON.parse(textAt(at(extension, 2)[0], 2) ?? '')
    expect(value).toEqual([{ group: 'example.test', version: 'v1', kind: 'Example' }])
  })
})
