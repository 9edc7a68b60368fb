/** Tests that the work of field management grows linearly with the size of an object, whatever it contains. */
import { describe, expect, test, vi } from 'vitest'
import { serverSideApply, updateManagers } from '../../../../lib/engine/meta/managedfields/fieldmanager.ts'
import type { JsonObject, KubeObject, ManagedFieldsEntry } from '../../../../lib/engine/meta/types.ts'
import { thing, thingKind } from './thing.ts'

/** Counts insertions into maps and sets, which all field sets consist of. */
function workOf(run: () => unknown): number {
  const spies = [vi.spyOn(Map.prototype, 'set'), vi.spyOn(Set.prototype, 'add')]
  try {
    run()
    return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0)
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const now = new Date('2026-01-01T00:00:00Z')
const write = { manager: 'm', subresource: '' as const, now, gvk: thingKind, schema: thing }
const apiVersion = 'example.com/v1'
const object = (metadata: JsonObject, spec: JsonObject = {}): KubeObject =>
  ({ apiVersion, kind: 'Thing', metadata: { name: 'n', ...metadata }, spec }) as KubeObject

const many = <T>(n: number, make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index))
const keysOf = (n: number, value: (index: number) => JsonObject[string]): JsonObject =>
  Object.fromEntries(many(n, (index) => [`k${index}`, value(index)]))

const entry = (operation: 'Apply' | 'Update', index: number, fields: JsonObject): ManagedFieldsEntry => ({
  manager: `m${index}`,
  operation,
  apiVersion,
  time: '2025-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': { 'f:map': fields } },
})
const managersOf = (n: number, operation: 'Apply' | 'Update', fields: (index: number) => JsonObject) =>
  object(
    { managedFields: many(n, (index) => entry(operation, index, fields(index))) as JsonObject[] },
    { map: keysOf(n, () => 'v') },
  )
const own = (index: number) => ({ [`f:k${index}`]: {} })
const chain = (depth: number): JsonObject => (depth === 0 ? {} : { 'f:x': chain(depth - 1) })

const shapes: [string, (n: number) => KubeObject][] = [
  ['managers that apply', (n) => managersOf(n, 'Apply', own)],
  ['managers that apply one field', (n) => managersOf(n, 'Apply', () => own(0))],
  ['managers that update', (n) => managersOf(n, 'Update', own)],
  ['managers with deep fields', (n) => managersOf(n, 'Apply', () => chain(40))],
  ['annotations', (n) => object({ annotations: keysOf(n, () => 'v') })],
  ['labels', (n) => object({ labels: keysOf(n, () => 'v') })],
  ['finalizers', (n) => object({ finalizers: many(n, (index) => `a/b${index}`) })],
  ['equal finalizers', (n) => object({ finalizers: many(n, () => 'a/b') })],
  [
    'owners',
    (n) =>
      object({ ownerReferences: many(n, (index) => ({ apiVersion: 'v1', kind: 'K', name: 'o', uid: `${index}` })) }),
  ],
  ['items of a set', (n) => object({}, { texts: many(n, (index) => `${index}`) })],
  ['items with keys', (n) => object({}, { byName: many(n, (index) => ({ name: `${index}`, tags: ['a', 'b'] })) })],
  ['equal items', (n) => object({}, { byName: many(n, () => ({ name: 'a', value: 'b' })) })],
  ['maps of maps', (n) => object({}, { mapOfMaps: keysOf(n, (index) => ({ a: `${index}` })) })],
  ['atomic items', (n) => object({}, { atomicList: many(n, (index) => `${index}`) })],
]

describe.each(shapes)('doubling the number of %s at most doubles the work', (_, make) => {
  const n = 200
  const withoutManagers = ({ metadata: { managedFields: _, ...metadata }, ...rest }: KubeObject) => ({
    ...rest,
    metadata,
  })
  const writes: [string, (one: KubeObject) => unknown][] = [
    ['a create', (one) => updateManagers({ ...write, live: undefined, updated: one })],
    ['an update', (one) => updateManagers({ ...write, live: one, updated: object({ labels: { a: 'b' } }) })],
    ['an update that keeps all', (one) => updateManagers({ ...write, live: one, updated: one })],
    ['an apply', (one) => serverSideApply({ ...write, live: one, config: withoutManagers(one), force: true })],
    [
      'an apply that applies less than before',
      (one) => {
        const before = serverSideApply({ ...write, live: one, config: withoutManagers(one), force: true })
        return serverSideApply({ ...write, live: before, config: withoutManagers(object({})), force: true })
      },
    ],
    [
      'an apply with conflicts',
      (one) => {
        const before = serverSideApply({
          ...write,
          manager: 'other',
          live: one,
          config: withoutManagers(one),
          force: true,
        })
        const spec = { ...one.spec, text: 'other' }
        return serverSideApply({ ...write, live: before, config: { ...withoutManagers(one), spec }, force: true })
      },
    ],
  ]
  // threat: gateway-11
  test.each(writes)('for %s', (_, run) => {
    // Some writes are rejected; these must be fast too.
    const attempt = (one: KubeObject) => {
      try {
        run(one)
      } catch {}
    }
    const [less = 0, more = 0] = [n, 2 * n].map((size) => workOf(() => attempt(make(size))))
    // Part of the work does not depend on the size.
    expect(more).toBeLessThan(2.2 * less + 50)
  })
})
