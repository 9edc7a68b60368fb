/** Tests the responses of create for every stored kind, one group per status code. */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { callsOf, objectOf, type StoredFunctions, status, type Used } from './fixtures.ts'
import { describeBodies, describeRefusals } from './refusals.ts'

export function describeCreate(functions: Used, stored: StoredFunctions): void {
  const { kind, plural, parameters, wrong } = stored
  const { call, make, read } = callsOf(functions, stored)
  const create = (metadata: object, invocation: Invocation = {}, spec: object = stored.spec) =>
    call('create', { parameters, body: objectOf(stored, metadata, spec), ...invocation })

  describeRefusals((invocation) => functions.invoke(`${plural}/create`, invocation))
  describeBodies((invocation) => call('create', { parameters, ...invocation }))

  describe('201', () => {
    // The fields belong to the manager that the event names.
    test('accepts the event of the repository', async () => {
      const { status: code, json } = await functions.invoke(`${plural}/create`, { headers: { accept: '*/*' } })
      expect(code).toBe(201)
      expect(json).toMatchObject({ kind, metadata: { name: stored.name, generation: 1 } })
      expect(json.metadata.managedFields).toMatchObject([{ manager: 'kubectl-create', operation: 'Update' }])
    })

    // The server ignores values of server-owned fields.
    test('ignores system fields and status from the client', async () => {
      const metadata = {
        name: 'reset',
        uid: 'mine',
        generation: 7,
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        selfLink: '/mine',
      }
      const body = { ...objectOf(stored, metadata), status: { phase: 'Mine' } }
      const { json } = await call('create', { parameters, body })
      expect(json.metadata.uid).toMatch(/^[0-9a-f]{8}-/)
      expect(json.metadata).toMatchObject({ generation: 1, creationTimestamp: expect.stringMatching(/^20[2-9]/) })
      expect(json.metadata).not.toHaveProperty('deletionTimestamp')
      expect(json.metadata).not.toHaveProperty('selfLink')
      expect(json.status?.phase).not.toBe('Mine')
    })

    // Clients send null timestamps and an empty status.
    test('ignores null and empty values', async () => {
      const metadata = { name: 'nulls', creationTimestamp: null, labels: null }
      const { status: code } = await call('create', { parameters, body: { ...objectOf(stored, metadata), status: {} } })
      expect(code).toBe(201)
      expect((await read('nulls')).metadata).not.toHaveProperty('labels')
    })

    test('generates an unused name from generateName', async () => {
      const names = await Promise.all(
        [1, 2].map(async () => (await create({ generateName: 'gen-' })).json.metadata.name),
      )
      expect(names[0]).toMatch(/^gen-[a-z0-9]{5}$/)
      expect(names[0]).not.toBe(names[1])
    })

    test('accepts and returns YAML', async () => {
      const body = `apiVersion: management.platform/v1\nkind: ${kind}\nmetadata: {name: yaml}\nspec: ${JSON.stringify(stored.spec)}\n`
      const headers = { 'content-type': 'application/yaml', accept: 'application/yaml' }
      const { status: code, text, headers: answered } = await call('create', { parameters, body, headers })
      expect([code, answered['content-type']]).toEqual([201, 'application/yaml'])
      expect(text).toMatch(/^apiVersion: management.platform\/v1\nkind: /)
    })

    // A dry run returns the same response and stores nothing.
    test('supports dryRun=All', async () => {
      const { status: code } = await create({ name: 'dry' }, { query: { dryRun: 'All' } })
      expect(code).toBe(201)
      expect((await read('dry')).code).toBe(404)
    })

    // The server never drops an unknown field silently.
    test('warns about unknown fields if the client requests it', async () => {
      const query = { fieldValidation: 'Warn' }
      const {
        status: code,
        headers,
        json,
      } = await create({ name: 'unknown' }, { query }, { ...stored.changed, nothing: 1 })
      expect([code, headers.warning]).toEqual([201, ['299 - "unknown field \\"spec.nothing\\""']])
      expect(json.spec ?? {}).not.toHaveProperty('nothing')
    })

    // With more than 10,240 bytes of headers the gateway would fail a request that succeeded.
    test('sends as many warnings as kube-apiserver, within the limit of the gateway', async () => {
      const finalizers = Array.from({ length: 300 }, (_, index) => `hold-${index}`)
      const { status: code, headers } = await create({ name: 'warned', finalizers })
      const warnings = headers.warning ?? []
      expect(code).toBe(201)
      expect(warnings[0]).toContain('hold-0')
      const bytes = [...warnings].reduce((sum, text) => sum + text.length + 11, 0)
      expect([bytes > 4096, bytes <= 8192]).toEqual([true, true])
    })

    test.each([{ kind: undefined }, { apiVersion: null }, { apiVersion: '', kind: null }])(
      'defaults the kind to that of the endpoint: %j',
      async (left) => {
        const name = `typeless-${JSON.stringify(left).length}`
        const body = { ...objectOf(stored, { name }), ...left }
        const { status: code, json } = await call('create', { parameters, body })
        expect([code, json.kind, json.apiVersion]).toEqual([201, kind, 'management.platform/v1'])
        const named = { ...parameters, name }
        const put = await call('update', { parameters: named, body: { ...json, ...left } })
        expect([put.status, put.json.kind]).toEqual([200, kind])
        const wrong = { parameters: named, body: { ...json, ...left, kind: 'Other' } }
        expect((await call('update', wrong)).status).toBe(422)
        expect((await call('update', { ...wrong, body: { ...json, apiVersion: 'v1' } })).status).toBe(400)
      },
    )

    // Of 196 KB of compressed data, managedFields may take as much as the fields they describe.
    test('drops managedFields if only they make the object too large, also in later writes', async () => {
      const random = (bytes: number) => randomBytes(bytes).toString('base64url')
      const annotations = Object.fromEntries(Array.from({ length: 1400 }, () => [`k${random(42)}k`, '']))
      const body = objectOf(stored, { name: 'large', annotations }, { ...stored.spec, description: random(90_000) })
      const { status: code, json } = await call('create', { parameters, body })
      expect([code, Object.keys(json.metadata.annotations).length]).toEqual([201, 1400])
      expect(json.metadata).not.toHaveProperty('managedFields')
      const named = { ...parameters, name: 'large' }
      json.spec = { ...json.spec, displayName: 'put' }
      const put = await call('update', { parameters: named, body: json })
      expect([put.status, put.json.metadata.managedFields]).toEqual([200, undefined])
      const patch = { spec: { displayName: 'patched' } }
      const headers = { 'Content-Type': 'application/merge-patch+json' }
      const patched = await call('patch', { parameters: named, body: patch, headers })
      expect([patched.status, patched.json.spec.displayName]).toEqual([200, 'patched'])
      expect(patched.json.metadata).not.toHaveProperty('managedFields')
    })

    test('returns a Table', async () => {
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
      const { json } = await create({ name: 'table' }, { headers: { accept } })
      expect(json).toMatchObject({ kind: 'Table', rows: [{ object: { kind: 'PartialObjectMetadata' } }] })
    })
  })

  describe('400', () => {
    // With fieldValidation=Strict, a typo in a manifest is an error.
    test('for unknown and duplicate fields with strict validation', async () => {
      const text = `{"apiVersion":"management.platform/v1","kind":"${kind}","metadata":{"name":"a","name":"b"},"spec":{"nothing":1}}`
      const { status: code, json } = await call('create', {
        parameters,
        body: text,
        query: { fieldValidation: 'Strict' },
      })
      expect(code).toBe(400)
      expect(json.message).toContain(
        'strict decoding error: duplicate field "metadata.name", unknown field "spec.nothing"',
      )
    })
  })

  describe('409', () => {
    // Names are unique.
    test('for an existing name', async () => {
      await make({ name: 'taken' })
      const { status: code, json } = await create({ name: 'taken' })
      expect([code, json]).toEqual([
        409,
        status(409, 'AlreadyExists', `${plural}.management.platform "taken" already exists`),
      ])
      expect(json.details).toEqual({ name: 'taken', group: 'management.platform', kind: plural })
    })

    // The case of the specification: the generated name exists.
    test('for generateName together with an existing name', async () => {
      await make({ name: 'both' })
      const { status: code, json, headers } = await create({ name: 'both', generateName: 'bo' })
      expect([code, json.reason, headers['retry-after']]).toEqual([409, 'AlreadyExists', '1'])
      expect(json.message).toContain('the server was not able to generate a unique name')
    })
  })

  describe('422', () => {
    test('for an invalid spec, with the cause', async () => {
      const { status: code, json } = await create({ name: 'wrong' }, {}, wrong.spec)
      expect([code, json.reason]).toEqual([422, 'Invalid'])
      expect(json.details).toMatchObject({ name: 'wrong', group: 'management.platform', kind })
      expect(json.details.causes.map(({ field }: { field: string }) => field)).toEqual([wrong.field])
    })

    test.each([
      { what: 'no name', metadata: {}, field: 'metadata.name' },
      { what: 'a name that is none', metadata: { name: 'Not_A_Name' }, field: 'metadata.name' },
      { what: 'a label that is none', metadata: { name: 'a', labels: { 'a b': 'c' } }, field: 'metadata.labels' },
      {
        what: 'a finalizer that is none',
        metadata: { name: 'a', finalizers: ['no domain'] },
        field: 'metadata.finalizers',
      },
      {
        what: 'an owner without uid',
        metadata: { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: '' }] },
        field: 'metadata.ownerReferences.uid',
      },
    ])('for metadata with $what', async ({ metadata, field }) => {
      const { status: code, json } = await create(metadata)
      expect(code).toBe(422)
      expect(json.details.causes.map((cause: { field: string }) => cause.field)).toContain(field)
    })

    // A body of another kind is a mistake of the client, not a way to another resource.
    test('for another kind', async () => {
      const body = { ...objectOf(stored, { name: 'other' }), kind: 'Other' }
      const { status: code, json } = await call('create', { parameters, body })
      expect([code, json.details.causes[0].field]).toEqual([422, 'kind'])
    })

    test('for invalid options', async () => {
      const { status: code, json } = await create({ name: 'a' }, { query: { dryRun: 'Some' } })
      expect([code, json.details.kind]).toEqual([422, 'CreateOptions'])
    })
  })
}
