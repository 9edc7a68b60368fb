/** Provides tables and objects for storage tests. */
import type { JsonObject, KubeObject } from '../../../../lib/engine/meta/types.ts'
import type { Mutate, Storage, Table, WriteResult } from '../../../../lib/engine/storage/interface.ts'
import { unhurried } from '../../../support/deadlines.ts'

/** Objects are in the partitions that `spec.in` names. */
export const widgets: Table = {
  resource: 'widgets',
  partitions: ({ object }) => (Array.isArray(object.spec?.in) ? object.spec.in.map(String) : []),
  activity: false,
}

export const used: Table = { ...widgets, resource: 'used', activity: true }

export function widget(key: string, spec: JsonObject = {}): KubeObject {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key]
  const metadata = { name: name ?? '', ...(namespace && { namespace }), uid: `uid-of-${key}` }
  return { apiVersion: 'example.test/v1', kind: 'Widget', metadata, spec }
}

/** The errors that the registry would throw: 409 and 404. */
export class Refused extends Error {}

export const creating =
  (key: string, spec: JsonObject = {}): Mutate =>
  (current) => {
    if (current) throw new Refused('exists')
    return { type: 'put', object: widget(key, spec), internal: {} }
  }

export const setting =
  (spec: JsonObject): Mutate =>
  (current) => {
    if (!current) throw new Refused('not found')
    return { type: 'put', object: { ...current.object, spec }, internal: current.internal }
  }

export const deleting: Mutate = (current) => {
  if (!current) throw new Refused('not found')
  return { type: 'delete' }
}

export const create = (storage: Storage, key: string, spec: JsonObject = {}, table = widgets): Promise<WriteResult> =>
  storage.update(table, key, creating(key, spec), { ...unhurried, isNew: true })

export const set = (storage: Storage, key: string, spec: JsonObject, table = widgets): Promise<WriteResult> =>
  storage.update(table, key, setting(spec), unhurried)

export const remove = (storage: Storage, key: string, table = widgets): Promise<WriteResult> =>
  storage.update(table, key, deleting, unhurried)
