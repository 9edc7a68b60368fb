/** Tests the responses of deletecollection for every stored kind, one group per status code. */
import { describe, expect, test } from 'vitest'
import type { Invocation } from '../../support/functions.ts'
import { bob } from '../../support/users.ts'
import { callsOf, type StoredFunctions, type Used } from './fixtures.ts'
import { describeRefusals } from './refusals.ts'

export function describeDeleteCollection(functions: Used, stored: StoredFunctions): void {
  const { kind, plural, parameters } = stored
  const { call, make, read } = callsOf(functions, stored)
  const removeAll = (query: Record<string, string>, invocation: Invocation = {}) =>
    call('deletecollection', { parameters, query, body: null, ...invocation })

  describeRefusals((invocation) => functions.invoke(`${plural}/deletecollection`, invocation))

  describe('200', () => {
    test('deletes only objects that match the selector', async () => {
      for (const name of ['c-a', 'c-b']) await make({ name, labels: { doomed: 'yes' } })
      await make({ name: 'c-kept' })
      const { status: code, json } = await removeAll({ labelSelector: 'doomed=yes' })
      expect([code, json.kind, json.items.length]).toEqual([200, `${kind}List`, 2])
      const left = await Promise.all(['c-a', 'c-b', 'c-kept'].map(async (name) => (await read(name)).kind))
      expect(left).toEqual(['Status', 'Status', kind])
    })

    test('supports dryRun=All', async () => {
      await make({ name: 'dry', labels: { dry: 'yes' } })
      expect((await removeAll({ labelSelector: 'dry', dryRun: 'All' })).json.items).toHaveLength(1)
      expect((await read('dry')).kind).toBe(kind)
    })

    // Users who delete all objects delete only those they may delete.
    test("keeps and hides others' objects", async () => {
      await make({ name: 'theirs', labels: { theirs: 'yes' } })
      const { status: code, json } = await removeAll({}, { user: bob })
      expect([code, json.items]).toEqual([200, []])
      expect((await read('theirs')).kind).toBe(kind)
    })
  })

  describe('400', () => {
    test('for an invalid selector, and deletes nothing', async () => {
      await make({ name: 'safe', labels: { safe: 'yes' } })
      expect((await removeAll({ labelSelector: 'safe in (' })).status).toBe(400)
      expect((await removeAll({ fieldSelector: 'spec.nothing=1' })).status).toBe(400)
      expect((await read('safe')).kind).toBe(kind)
    })
  })

  describe('422', () => {
    test('for invalid options', async () => {
      const { status: code, json } = await removeAll(
        { labelSelector: 'a' },
        { body: { propagationPolicy: 'Sideways' } },
      )
      expect([code, json.details.kind]).toEqual([422, 'DeleteOptions'])
    })
  })

  describe('406', () => {
    test('for a form that no list has, and deletes nothing', async () => {
      await make({ name: 'kept', labels: { kept: 'yes' } })
      const headers = { accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' }
      const { status: code, json } = await removeAll({ labelSelector: 'kept' }, { headers })
      expect([code, json.message]).toEqual([406, expect.stringContaining('the requested object is a list')])
      expect((await read('kept')).kind).toBe(kind)
    })
  })
  describe('409', () => {
    test('for the first object that the preconditions do not fit, and deletes none after it', async () => {
      for (const name of ['fit-a', 'fit-b']) await make({ name, labels: { fit: 'yes' } })
      const { uid } = (await read('fit-b')).metadata
      const { status: code, json } = await removeAll({ labelSelector: 'fit' }, { body: { preconditions: { uid } } })
      expect([code, json.details.name]).toEqual([409, 'fit-a'])
      const left = await Promise.all(['fit-a', 'fit-b'].map(async (name) => (await read(name)).kind))
      expect(left).toEqual([kind, kind])
    })
  })
}
