/** Tests the responses of delete for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import { callsOf, objectOf, type StoredFunctions, type Used } from './fixtures.ts'
import { describeRefusals } from './refusals.ts'

export function describeDelete(functions: Used, stored: StoredFunctions): void {
  const { plural } = stored
  const { call, at, make, read } = callsOf(functions, stored)
  const remove = (name: string, body: unknown = null, invocation: Invocation = {}) =>
    call('delete', { parameters: at(name), body, ...invocation })

  describeRefusals((invocation) => functions.invoke(`${plural}/delete`, invocation))

  describe('200', () => {
    test('deletes the object and returns its uid', async () => {
      const { metadata } = await make({ name: 'gone' })
      const { status: code, json } = await remove('gone')
      expect([code, json]).toEqual([
        200,
        {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Success',
          details: { name: 'gone', group: 'management.platform', kind: plural, uid: metadata.uid },
        },
      ])
      expect((await read('gone')).code).toBe(404)
    })

    // An object with finalizers remains until they are removed, and its deletionTimestamp does not change.
    test('marks an object with finalizers once', async () => {
      await make({ name: 'held', finalizers: ['example.com/hold'] })
      const first = await remove('held')
      expect(first.json.metadata).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 })
      const { deletionTimestamp, resourceVersion } = first.json.metadata
      const again = await remove('held')
      expect(again.json.metadata).toMatchObject({ deletionTimestamp, resourceVersion, generation: 2 })
      expect((await read('held')).kind).toBe(stored.kind)
    })

    test('supports dryRun=All', async () => {
      await make({ name: 'dry' })
      expect((await remove('dry', null, { query: { dryRun: 'All' } })).status).toBe(200)
      expect((await remove('dry', { dryRun: ['All'] })).status).toBe(200)
      expect((await read('dry')).kind).toBe(stored.kind)
    })

    test('accepts matching preconditions', async () => {
      const { metadata } = await make({ name: 'exact' })
      const { uid, resourceVersion } = metadata
      expect((await remove('exact', { preconditions: { uid, resourceVersion } })).status).toBe(200)
    })
  })

  describe('400', () => {
    test.each(['{', '{"kind":"Other","apiVersion":"v1"}'])('for the options %s', async (body) => {
      await call('create', { parameters: at(''), body: objectOf(stored, { name: 'bad' }) })
      expect((await remove('bad', body)).status).toBe(400)
      expect((await read('bad')).kind).toBe(stored.kind)
    })
  })

  describe('404', () => {
    test('for an object that does not exist', async () => {
      expect((await remove('nothing')).status).toBe(404)
    })

    // Users cannot delete or detect objects of others.
    test('for an object that the user may not see', async () => {
      await make({ name: 'hidden' })
      expect((await remove('hidden', null, { user: bob })).status).toBe(404)
      expect((await read('hidden')).kind).toBe(stored.kind)
    })
  })

  describe('409', () => {
    // A delete that is meant for another object of the same name deletes nothing.
    test.each([{ uid: 'other' }, { resourceVersion: '1' }])('for the preconditions %j', async (preconditions) => {
      await call('create', { parameters: at(''), body: objectOf(stored, { name: 'precious' }) })
      const { status: code, json } = await remove('precious', { preconditions })
      expect([code, json.reason]).toEqual([409, 'Conflict'])
      expect((await read('precious')).kind).toBe(stored.kind)
    })
  })

  describe('422', () => {
    test.each([
      { propagationPolicy: 'Sideways' },
      { propagationPolicy: 'Orphan', orphanDependents: true },
      { dryRun: ['Some'] },
    ])('for the options %j', async (options) => {
      const { status: code, json } = await remove('any', options)
      expect([code, json.details.kind]).toEqual([422, 'DeleteOptions'])
    })
  })
}
