/** Tests the order of validation, and the name in its errors. */
import { describe, expect, it, test } from 'vitest'
import type { FieldError } from '../../../../lib/engine/meta/errors/fielderror.ts'
import type { StatusError } from '../../../../lib/engine/meta/errors/status.ts'
import { list, map, object, string } from '../../../../lib/engine/meta/schema/schema.ts'
import type { KubeObject } from '../../../../lib/engine/meta/types.ts'
import type { KindInfo } from '../../../../lib/engine/registry/kind.ts'
import { refuseInvalid } from '../../../../lib/engine/registry/store.ts'
import { validateChange, validateNew } from '../../../../lib/engine/registry/validate.ts'

const kind: KindInfo = {
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  singular: 'thing',
  scope: 'Cluster',
  description: '',
  schema: { spec: object('', { text: string('') }) },
}
const thing = (more: object): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a' },
  ...more,
})
const draft = (more: object) => ({ object: thing(more), internal: {}, secrets: [] })
const broken = { metadata: { name: 'a', labels: { 'bad key': 'x' } }, spec: { text: 5 } }

describe('an object of another kind', () => {
  it('reports only the wrong type on create', () => {
    const errors = validateNew(kind, draft({ ...broken, kind: 'Other' }))
    expect(errors.map(({ field }) => field)).toEqual(['kind'])
    expect(validateNew(kind, draft(broken)).map(({ field }) => field)).toEqual(['metadata.labels', 'spec.text'])
  })

  it('reports metadata changes before the wrong type on update', () => {
    const errors = validateChange(kind, draft({ ...broken, kind: 'Other' }), thing({}), '')
    expect(errors.map(({ field }) => field)).toEqual(['metadata.labels', 'metadata.labels', 'kind'])
  })

  it('is refused with its own name', () => {
    const other = thing({ kind: 'Other', apiVersion: 'v1' })
    const act = () => refuseInvalid(other, validateNew(kind, { ...draft({}), object: other }))
    expect(act).toThrow('Other "a" is invalid: [kind: Invalid value: "Other": must be Thing, apiVersion:')
    try {
      act()
    } catch (error) {
      expect((error as StatusError).status.details).toMatchObject({ name: 'a', kind: 'Other' })
    }
  })
})

// threat: gateway-11
test('too many owners are refused without validating each', () => {
  const ownerReferences = Array.from({ length: 41 }, (_, index) => ({
    apiVersion: 'v1',
    kind: 'Owner',
    name: `n${index}`,
    uid: `${index}`,
    controller: true,
  }))
  const owned = draft({ ...broken, metadata: { name: 'a', ownerReferences } })
  const findings = ['metadata.ownerReferences: Too many: 41: must have at most 40 items']
  const texts = (errors: readonly FieldError[]) => errors.map(({ field, message }) => `${field}: ${message}`)
  expect(texts(validateNew(kind, owned))).toEqual(findings)
  expect(texts(validateChange(kind, owned, thing({}), ''))).toEqual(findings)
})

// threat: gateway-11
test('too many managers are refused, and kept if already stored', () => {
  const objectWithManagers = (count: number) => ({
    metadata: { name: 'a', managedFields: Array.from({ length: count }, () => ({ operation: 'Apply' })) },
  })
  const refusal = 'Too many: 1001: must have at most 1000 items'
  expect(validateNew(kind, draft(objectWithManagers(1001))).map(({ message }) => message)).toEqual([refusal])
  expect(validateNew(kind, draft(objectWithManagers(1000)))).toEqual([])
  expect(validateChange(kind, draft(objectWithManagers(1001)), thing({}), '').map(({ message }) => message)).toEqual([
    refusal,
  ])
  expect(validateChange(kind, draft(objectWithManagers(1001)), thing(objectWithManagers(1001)), '')).toEqual([])
})

describe('very many errors', () => {
  const n = 20_000
  const many = <T>(make: (index: number) => T): T[] => Array.from({ length: n }, (_, index) => make(index))
  const lists: KindInfo = {
    ...kind,
    schema: {
      spec: object('', {
        items: list('', object('', { text: string('') })),
        set: list('', string(''), { listType: 'set' }),
        map: map('', string('')),
      }),
    },
  }
  const wide = (name: string, value: unknown) => Object.fromEntries(many((index) => [`${name} ${index}`, value]))

  // threat: gateway-11
  it.each<[string, object]>([
    ['items', { spec: { items: many(() => ({ text: 5 })) } }],
    ['equal items', { spec: { set: many((index) => `${index % (n / 2)}`) } }],
    ['members', { spec: { map: wide('m', 5) } }],
    ['labels', { metadata: { name: 'a', labels: wide('l', 'a b') } }],
    ['annotations', { metadata: { name: 'a', annotations: wide('a', '') } }],
    ['finalizers', { metadata: { name: 'a', finalizers: many((index) => `f ${index}`) } }],
  ])('are collected until a response is full: %s', (_, more) => {
    for (const errors of [validateNew(lists, draft(more)), validateChange(lists, draft(more), thing({}), '')]) {
      expect(errors.length).toBeGreaterThan(100)
      expect(errors.length).toBeLessThan(6000)
      expect(() => refuseInvalid(thing({}), errors)).toThrow(/ and more$/)
    }
  })
})
