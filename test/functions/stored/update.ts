/** Tests the responses of update for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import { callsOf, objectOf, type StoredFunctions, type Used } from './fixtures.ts'
import { describeBodies, describeRefusals } from './refusals.ts'

export function describeUpdate(functions: Used, stored: StoredFunctions): void {
  const { plural, changed, wrong } = stored
  const { call, at, make, read } = callsOf(functions, stored)
  const put = (name: string, body: unknown, invocation: Invocation = {}) =>
    call('update', { parameters: at(name), body, ...invocation })

  describeRefusals((invocation) => functions.invoke(`${plural}/update`, invocation))
  describeBodies((invocation) => call('update', { parameters: at('any'), ...invocation }))

  describe('200', () => {
    // Clients write back what they read, with their changes.
    test('updates a changed object', async () => {
      const made = await make({ name: 'put' })
      const { status: code, json } = await put('put', { ...(await read('put')), spec: changed })
      expect([code, json.spec]).toEqual([200, changed])
      expect(json.metadata).toMatchObject({ generation: 2, uid: made.metadata.uid })
      expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion))
    })

    // A no-op update by an idle controller must not send events to watches.
    test('keeps the resourceVersion of an unchanged object', async () => {
      await make({ name: 'same' })
      const before = await read('same')
      const { json } = await put('same', before)
      expect(json.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
      expect(json.metadata.generation).toBe(1)
    })

    test('keeps the generation if only labels change', async () => {
      await make({ name: 'labels' })
      const before = await read('labels')
      const { json } = await put('labels', { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } })
      expect(json.metadata).toMatchObject({ labels: { a: 'b' }, generation: 1 })
    })

    // Status and spec have different writers.
    test('an update ignores the status, and an update of the status ignores everything else', async () => {
      await make({ name: 'apart' })
      const object = await read('apart')
      const written = { ...object, spec: changed, status: { phase: 'Mine', lastActivity: '2001-01-01T00:00:00Z' } }
      const { json } = await put('apart', written)
      expect(json.status?.phase).not.toBe('Mine')
      const ofStatus = await put('apart', { ...json, spec: stored.spec }, { subresource: 'status' })
      expect([ofStatus.status, ofStatus.json.spec]).toEqual([200, changed])
    })

    test('supports dryRun=All', async () => {
      await make({ name: 'dry' })
      const { status: code, json } = await put(
        'dry',
        { ...(await read('dry')), spec: changed },
        { query: { dryRun: 'All' } },
      )
      expect([code, json.spec]).toEqual([200, changed])
      expect((await read('dry')).spec).toEqual(stored.spec)
    })
  })

  describe('400', () => {
    test('for a name that differs from the path', async () => {
      await make({ name: 'named' })
      const { status: code, json } = await put('named', objectOf(stored, { name: 'other', resourceVersion: '1' }))
      expect([code, json.message]).toEqual([
        400,
        'the name of the object (other) does not match the name on the URL (named)',
      ])
    })
  })

  describe('404', () => {
    test('for an object that does not exist', async () => {
      const { status: code } = await put('nothing', objectOf(stored, { name: 'nothing', resourceVersion: '1' }))
      expect(code).toBe(404)
    })

    // The response does not reveal that another user's object exists.
    test('for an object that the user may not see', async () => {
      await make({ name: 'hidden' })
      const { status: code } = await put('hidden', { ...(await read('hidden')), spec: changed }, { user: bob })
      expect(code).toBe(404)
    })
  })

  describe('409', () => {
    // Concurrent writes are never lost.
    test('for an outdated resourceVersion', async () => {
      await make({ name: 'stale' })
      const before = await read('stale')
      await put('stale', { ...before, spec: changed })
      const { status: code, json } = await put('stale', { ...before, spec: stored.spec })
      expect([code, json.reason]).toEqual([409, 'Conflict'])
      expect(json.message).toContain('the object has been modified; please apply your changes to the latest version')
    })

    test('for the uid of another object of the same name', async () => {
      await make({ name: 'uid' })
      const before = await read('uid')
      const { status: code } = await put('uid', { ...before, metadata: { ...before.metadata, uid: 'other' } })
      expect(code).toBe(409)
    })
  })

  describe('422', () => {
    // An update without a resourceVersion could overwrite unseen changes.
    test('without a resourceVersion', async () => {
      await make({ name: 'blind' })
      const { status: code, json } = await put('blind', objectOf(stored, { name: 'blind' }, changed))
      expect([code, json.details.causes[0].field]).toEqual([422, 'metadata.resourceVersion'])
    })

    test('for an invalid spec', async () => {
      await make({ name: 'wrong' })
      const { status: code, json } = await put('wrong', { ...(await read('wrong')), spec: wrong.spec })
      expect([code, json.details.causes[0].field]).toEqual([422, wrong.field])
    })

    // Once the server has set the deletionTimestamp, finalizers can only be removed.
    test('for new finalizers on an object that is being deleted', async () => {
      await make({ name: 'held', finalizers: ['example.com/one'] })
      await call('delete', { parameters: at('held'), body: null })
      const held = await read('held')
      const more = { ...held.metadata, finalizers: ['example.com/one', 'example.com/two'] }
      const { status: code, json } = await put('held', { ...held, metadata: more })
      expect([code, json.details.causes[0].field]).toEqual([422, 'metadata.finalizers'])
      expect((await put('held', { ...held, metadata: { ...held.metadata, finalizers: [] } })).status).toBe(200)
      expect((await read('held')).code).toBe(404)
    })
  })
}
