/** Tests the responses of get for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import { callsOf, objectOf, type StoredFunctions, status, type Used } from './fixtures.ts'
import { describeRefusals } from './refusals.ts'

export function describeGet(functions: Used, stored: StoredFunctions): void {
  const { kind, plural, parameters } = stored
  const { call, at, make } = callsOf(functions, stored)
  const get = (name: string, invocation: Invocation = {}) => call('get', { parameters: at(name), ...invocation })

  describeRefusals((invocation) => functions.invoke(`${plural}/get`, invocation))

  describe('200', () => {
    test('accepts the event of the repository', async () => {
      await make({ name: stored.name, labels: { a: 'b' } })
      const { status: code, json } = await functions.invoke(`${plural}/get`, { headers: { accept: '*/*' } })
      expect([code, json.kind, json.metadata.name, json.spec]).toEqual([200, kind, stored.name, stored.spec])
    })

    test('returns the object through its status subresource', async () => {
      await make({ name: 'status' })
      const { status: code, json } = await get('status', { subresource: 'status' })
      expect([code, json.metadata.name]).toEqual([200, 'status'])
    })

    test.each([
      { as: 'Table', expected: { kind: 'Table', rows: [{ cells: expect.arrayContaining(['forms']) }] } },
      { as: 'PartialObjectMetadata', expected: { kind: 'PartialObjectMetadata', metadata: { name: 'forms' } } },
    ])('as $as', async ({ as, expected }) => {
      await call('create', { parameters, body: objectOf(stored, { name: 'forms' }) })
      const { json } = await get('forms', { headers: { accept: `application/json;as=${as};v=v1;g=meta.k8s.io` } })
      expect(json).toMatchObject(expected)
      expect(json).not.toHaveProperty('spec')
    })

    test('accepts any numeric resourceVersion and returns the newest state', async () => {
      await make({ name: 'newest' })
      expect((await get('newest', { query: { resourceVersion: '0' } })).status).toBe(200)
    })
  })

  describe('400', () => {
    test.each(['9007199254740993', '18446744073709551615'])(
      'compares every digit of resourceVersion %s',
      async (version) => {
        const { status: code, json } = await get('any', { query: { resourceVersion: `00${version}` } })
        expect([code, json.message]).toEqual([
          504,
          expect.stringMatching(`^Timeout: Too large resource version: ${version}, current: \\d+$`),
        ])
      },
    )

    test('for a resourceVersion that is not a number', async () => {
      const { status: code, json } = await get('any', { query: { resourceVersion: 'abc' } })
      expect([code, json.reason]).toEqual([400, 'BadRequest'])
    })
  })

  describe('404', () => {
    test('for an object that does not exist', async () => {
      const { status: code, json } = await get('nothing')
      expect([code, json]).toEqual([404, status(404, 'NotFound', `${plural}.management.platform "nothing" not found`)])
    })

    // The response does not reveal that another user's object exists.
    test('for an object that the user may not see, with the same message', async () => {
      await make({ name: 'hidden' })
      const [hidden, missing] = await Promise.all([get('hidden', { user: bob }), get('missing', { user: bob })])
      expect(hidden.status).toBe(404)
      expect(hidden.text.replaceAll('hidden', 'missing')).toBe(missing.text)
    })
  })
}
