/** Tests the responses of patch for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import { callsOf, objectOf, type StoredFunctions, type Used } from './fixtures.ts'
import { describeRefusals } from './refusals.ts'

export function describePatch(functions: Used, stored: StoredFunctions): void {
  const { kind, plural, changed, wrong } = stored
  const { call, at, make, read } = callsOf(functions, stored)
  const types = {
    merge: 'application/merge-patch+json',
    json: 'application/json-patch+json',
    apply: 'application/apply-patch+yaml',
  }
  const patch = (name: string, type: keyof typeof types, body: unknown, invocation: Invocation = {}) =>
    call('patch', {
      parameters: at(name),
      body,
      ...(type === 'apply' && { query: { fieldManager: 'tester' } }),
      ...invocation,
      headers: { 'content-type': types[type], ...invocation.headers },
    })
  const configurationOf = (name: string, spec: object) => objectOf(stored, { name }, spec)

  describeRefusals((invocation) => functions.invoke(`${plural}/patch`, invocation))

  describe('200', () => {
    test('merge patch: replaces members and removes null members', async () => {
      await make({ name: 'merge', labels: { a: '1', b: '2' } })
      const { status: code, json } = await patch('merge', 'merge', {
        metadata: { labels: { a: null, c: '3' } },
        spec: changed,
      })
      expect([code, json.metadata.labels, json.spec]).toEqual([200, { b: '2', c: '3' }, changed])
    })

    test('JSON patch: runs operations in order', async () => {
      await make({ name: 'json', labels: { a: '1' } })
      const { status: code, json } = await patch('json', 'json', [
        { op: 'test', path: '/metadata/labels/a', value: '1' },
        { op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/b' },
        { op: 'replace', path: '/spec', value: changed },
      ])
      expect([code, json.metadata.labels, json.spec]).toEqual([200, { b: '1' }, changed])
    })

    test('apply: the applier owns the fields', async () => {
      await make({ name: 'apply' })
      const { status: code, json } = await patch('apply', 'apply', configurationOf('apply', changed))
      expect([code, json.spec]).toEqual([200, changed])
      expect(json.metadata.managedFields).toContainEqual(
        expect.objectContaining({ manager: 'tester', operation: 'Apply' }),
      )
    })

    test('changes the status only through its subresource', async () => {
      await make({ name: 'status' })
      const body = { status: { lastActivity: '2026-01-01T00:00:00Z', message: 'now' }, spec: changed }
      const { status: code, json } = await patch('status', 'merge', body, {
        subresource: 'status',
        query: { fieldValidation: 'Ignore' },
      })
      expect([code, json.spec]).toEqual([200, stored.spec])
      const written = /2026-01-01T00:00:00Z|now/.test(JSON.stringify(json.status))
      expect(written).toBe(stored.computedStatus !== true)
    })

    // Applied fields outside the status are ignored, and do not change the time of the last apply either.
    test('keeps the resourceVersion if nothing outside the ignored fields changes', async () => {
      const own = { name: 'timeless', labels: { a: '1' } }
      const { apiVersion } = objectOf(stored, own)
      const fieldsV1 = { 'f:metadata': { 'f:labels': { 'f:a': {} } } }
      const entry = { manager: 'tester', operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1 }
      await make(own)
      const { metadata } = (await patch('timeless', 'merge', { metadata: { managedFields: [entry] } })).json
      const applied = { apiVersion, kind, metadata: own, status: {} }
      const { status: code, json } = await patch('timeless', 'apply', applied)
      expect([code, json.metadata]).toEqual([200, metadata])
    })

    // A no-op patch sends no event to watches.
    test('keeps the resourceVersion for a no-op patch', async () => {
      const { metadata } = await make({ name: 'same' })
      const { json } = await patch('same', 'merge', { spec: stored.spec })
      expect(json.metadata.resourceVersion).toBe(metadata.resourceVersion)
    })
  })

  describe('201', () => {
    // An apply creates a missing object.
    test('creates a missing object by apply', async () => {
      const { status: code, json } = await patch('applied', 'apply', configurationOf('applied', changed))
      expect([code, json.spec]).toEqual([201, expect.objectContaining(changed)])
      expect((await read('applied')).metadata.generation).toBe(1)
    })
  })

  describe('201 and 200', () => {
    const times = 6
    const managers = Array.from({ length: times }, (_, index) => `manager-${index}`)
    const applyAs = (name: string, manager: string, labels: object, query: Record<string, string> = {}) =>
      patch(name, 'apply', objectOf(stored, { name, labels }), { query: { fieldManager: manager, ...query } })
    const codes = (answers: readonly { status: number }[]) => answers.map(({ status: code }) => code).sort()
    const oneCreates = (others: number) =>
      [others, 201].flatMap((code) => Array(code === 201 ? 1 : times - 1).fill(code)).sort()

    // Controllers that start together apply the same object concurrently: one creates it, and none fails.
    test('accepts concurrent applies to a missing object by one manager', async () => {
      const answers = await Promise.all(managers.map(() => applyAs('at-once', 'tester', { a: '1' })))
      expect(codes(answers)).toEqual(oneCreates(200))
      expect(new Set(answers.map(({ json }) => json.metadata.uid)).size).toBe(1)
      expect((await read('at-once')).metadata).toEqual(answers.find(({ status: code }) => code === 201)?.json.metadata)
    })

    test('accepts them from several managers, each with its own field', async () => {
      const answers = await Promise.all(managers.map((one) => applyAs('shared', one, { [one]: 'x' })))
      expect(codes(answers)).toEqual(oneCreates(200))
      const { labels, managedFields } = (await read('shared')).metadata
      expect(Object.keys(labels).sort()).toEqual([...managers].sort())
      expect(managedFields.map((entry: { manager: string }) => entry.manager).sort()).toEqual([...managers].sort())
    })

    test('returns conflicts for several managers of one field, unless forced', async () => {
      const answers = await Promise.all(managers.map((one) => applyAs('contended', one, { a: one })))
      expect(codes(answers)).toEqual(oneCreates(409))
      const refusals = answers.filter(({ status: code }) => code === 409)
      expect(new Set(refusals.map(({ json }) => json.details.causes[0].reason))).toEqual(
        new Set(['FieldManagerConflict']),
      )
      const forced = await Promise.all(managers.map((one) => applyAs('forced', one, { a: one }, { force: 'true' })))
      expect(codes(forced)).toEqual(oneCreates(200))
    })

    test('finds or creates the object while others delete it repeatedly', async () => {
      const answers = await Promise.all(
        managers
          .slice(0, 3)
          .flatMap((one) => [
            applyAs('fleeting', one, { [one]: 'x' }),
            call('delete', { parameters: at('fleeting'), body: undefined }),
          ]),
      )
      const applies = answers.filter((_, index) => index % 2 === 0)
      expect(applies.filter(({ status: code }) => code !== 200 && code !== 201)).toEqual([])
    })
  })

  describe('400', () => {
    test.each([
      { type: 'merge', body: '{' },
      { type: 'merge', body: '[]' },
      { type: 'json', body: '{}' },
      { type: 'apply', body: 'a: b: c' },
    ] as const)('$type: $body', async ({ type, body }) => {
      await call('create', { parameters: at(''), body: objectOf(stored, { name: 'bad' }) })
      expect((await patch('bad', type, body)).status).toBe(400)
    })

    // The path identifies the object. A patch cannot change its identity.
    test('for another name', async () => {
      await make({ name: 'renamed' })
      expect((await patch('renamed', 'merge', { metadata: { name: 'other' } })).status).toBe(400)
    })
  })

  describe('400 or 409, in this order of rules', () => {
    test.each(['', 'status'] as const)(
      'keeps apiVersion and kind if a patch removes them, through the subresource "%s"',
      async (subresource) => {
        const name = `versionless${subresource}`
        const { apiVersion, kind } = await make({ name })
        const strip = (more: object) =>
          patch(name, 'merge', { apiVersion: null, kind: null, ...more }, subresource ? { subresource } : {})
        const { status: code, json } = await strip({})
        expect([code, json.apiVersion, json.kind]).toEqual([200, apiVersion, kind])
        expect((await strip({ metadata: { resourceVersion: '1' } })).status).toBe(409)
        expect((await strip({ metadata: { name: null, resourceVersion: '1' } })).json.message).toMatch(/undeterminable/)
        expect((await strip({ kind: 'Other' })).status).toBe(subresource ? 200 : 422)
      },
    )
  })

  describe('404', () => {
    test.each(['merge', 'json'] as const)('for a %s patch of an object that does not exist', async (type) => {
      expect((await patch('nothing', type, type === 'json' ? [] : {})).status).toBe(404)
    })

    // The response does not reveal that another user's object exists.
    test.each(['merge', 'json'] as const)('for a %s patch of an object that the user may not see', async (type) => {
      await call('create', { parameters: at(''), body: objectOf(stored, { name: 'hidden' }) })
      expect((await patch('hidden', type, type === 'json' ? [] : {}, { user: bob })).status).toBe(404)
    })
  })

  describe('409', () => {
    test('for an outdated resourceVersion', async () => {
      await make({ name: 'stale' })
      const { status: code } = await patch('stale', 'merge', { metadata: { resourceVersion: '1' }, spec: changed })
      expect(code).toBe(409)
    })

    // A manager does not accidentally change fields of another manager.
    test('for an apply to fields of another manager', async () => {
      await patch('contested', 'apply', configurationOf('contested', changed))
      const field = Object.keys(changed).find((member) => typeof changed[member] !== 'object') ?? ''
      const other = configurationOf('contested', { [field]: typeof changed[field] === 'number' ? 5 : 'theirs' })
      const { status: code, json } = await patch('contested', 'apply', other, { query: { fieldManager: 'other' } })
      expect([code, json.reason]).toEqual([409, 'Conflict'])
      expect(json.details.causes).toEqual([
        { reason: 'FieldManagerConflict', message: 'conflict with "tester"', field: `.spec.${field}` },
      ])
      const forced = await patch('contested', 'apply', other, { query: { fieldManager: 'other', force: 'true' } })
      expect(forced.status).toBe(200)
    })
  })

  describe('415', () => {
    // kubectl shows the supported types from this response.
    test('for a strategic merge patch', async () => {
      const { status: code, json } = await patch(
        'any',
        'merge',
        {},
        {
          headers: { 'content-type': 'application/strategic-merge-patch+json' },
        },
      )
      expect([code, json.message]).toEqual([
        415,
        `the body of the request was in an unknown format - accepted media types include: ${types.json}, ${types.merge}, ${types.apply}`,
      ])
    })
  })

  describe('422', () => {
    test('for a failed test operation, and changes nothing', async () => {
      await make({ name: 'tested' })
      const { status: code } = await patch('tested', 'json', [
        { op: 'replace', path: '/spec', value: changed },
        { op: 'test', path: '/metadata/name', value: 'other' },
      ])
      expect(code).toBe(422)
      expect((await read('tested')).spec).toEqual(stored.spec)
    })

    test('for an invalid result', async () => {
      await make({ name: 'wrong' })
      const { status: code, json } = await patch('wrong', 'merge', { spec: wrong.spec })
      expect([code, json.details.kind, json.details.causes[0].field]).toEqual([422, kind, wrong.field])
    })

    test('for an unknown operation', async () => {
      await make({ name: 'operation' })
      expect((await patch('operation', 'json', [{ op: 'none', path: '/spec' }])).status).toBe(422)
    })

    test('for an apply without a field manager', async () => {
      const { status: code, json } = await patch('any', 'apply', configurationOf('any', {}), { query: {} })
      expect([code, json.details.kind]).toEqual([422, 'PatchOptions'])
    })
  })
}
