/** What update answers for every stored kind, one group per status. */
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
    // Clients put back what they read, with what they changed.
    test('what was read, changed', async () => {
      const made = await make({ name: 'put' })
      const { status: code, json } = await put('put', { ...(await read('put')), spec: changed })
      expect([code, json.spec]).toEqual([200, changed])
      expect(json.metadata).toMatchObject({ generation: 2, uid: made.metadata.uid })
      expect(Number(json.metadata.resourceVersion)).toBeGreaterThan(Number(made.metadata.resourceVersion))
    })

    // An idle controller must not wake every watcher.
    test('what was read, unchanged: no new resourceVersion', async () => {
      await make({ name: 'same' })
      const before = await read('same')
      const { json } = await put('same', before)
      expect(json.metadata.resourceVersion).toBe(before.metadata.resourceVersion)
      expect(json.metadata.generation).toBe(1)
    })

    test('labels are no change of the desired state', async () => {
      await make({ name: 'labels' })
      const before = await read('labels')
      const { json } = await put('labels', { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } })
      expect(json.metadata).toMatchObject({ labels: { a: 'b' }, generation: 1 })
    })

    // Status and spec have different writers.
    test('status is left alone by a write of the object, all else by one of its status', async () => {
      await make({ name: 'apart' })
      const object = await read('apart')
      const written = { ...object, spec: changed, status: { phase: 'Mine', lastActivity: '2001-01-01T00:00:00Z' } }
      const { json } = await put('apart', written)
      expect(json.status?.phase).not.toBe('Mine')
      const ofStatus = await put('apart', { ...json, spec: stored.spec }, { subresource: 'status' })
      expect([ofStatus.status, ofStatus.json.spec]).toEqual([200, changed])
    })

    test('dryRun=All', async () => {
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
    test('another name than that of the path', async () => {
      await make({ name: 'named' })
      const { status: code, json } = await put('named', objectOf(stored, { name: 'other', resourceVersion: '1' }))
      expect([code, json.message]).toEqual([
        400,
        'the name of the object (other) does not match the name on the URL (named)',
      ])
    })
  })

  describe('404', () => {
    test('what is not there is not made', async () => {
      const { status: code } = await put('nothing', objectOf(stored, { name: 'nothing', resourceVersion: '1' }))
      expect(code).toBe(404)
    })

    // Nobody learns from the answer that another's object exists.
    test('what is not for this user', async () => {
      await make({ name: 'hidden' })
      const { status: code } = await put('hidden', { ...(await read('hidden')), spec: changed }, { user: bob })
      expect(code).toBe(404)
    })
  })

  describe('409', () => {
    // No write is lost to a write that did not see it.
    test('a resourceVersion that is not the newest', async () => {
      await make({ name: 'stale' })
      const before = await read('stale')
      await put('stale', { ...before, spec: changed })
      const { status: code, json } = await put('stale', { ...before, spec: stored.spec })
      expect([code, json.reason]).toEqual([409, 'Conflict'])
      expect(json.message).toContain('the object has been modified; please apply your changes to the latest version')
    })

    test('the uid of another object of that name', async () => {
      await make({ name: 'uid' })
      const before = await read('uid')
      const { status: code } = await put('uid', { ...before, metadata: { ...before.metadata, uid: 'other' } })
      expect(code).toBe(409)
    })
  })

  describe('422', () => {
    // An update without a resourceVersion would overwrite what its author has not seen.
    test('no resourceVersion', async () => {
      await make({ name: 'blind' })
      const { status: code, json } = await put('blind', objectOf(stored, { name: 'blind' }, changed))
      expect([code, json.details.causes[0].field]).toEqual([422, 'metadata.resourceVersion'])
    })

    test('a spec that is wrong', async () => {
      await make({ name: 'wrong' })
      const { status: code, json } = await put('wrong', { ...(await read('wrong')), spec: wrong.spec })
      expect([code, json.details.causes[0].field]).toEqual([422, wrong.field])
    })

    // The deletionTimestamp is the server's; once set, finalizers can only go.
    test('finalizers that are added to what is being deleted', async () => {
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
