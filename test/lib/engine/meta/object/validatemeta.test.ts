import { describe, expect, test } from 'vitest'
import { fixupForUpdate } from '../../../../../lib/engine/meta/object/system.ts'
import { validateMeta, validateMetaUpdate } from '../../../../../lib/engine/meta/object/validatemeta.ts'
import type { ManagedFieldsEntry, ObjectMeta } from '../../../../../lib/engine/meta/types.ts'
import cases from './vectors/validatemeta.cases.json' with { type: 'json' }

const live: ObjectMeta = {
  name: 'a',
  uid: 'u1',
  resourceVersion: '5',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
}

const objectOf = (metadata: ObjectMeta) => ({ apiVersion: 'example.test/v1', kind: 'Example', metadata })

/** Returns the errors of an update to `changes`, each of them once. */
function findings(old: ObjectMeta, changes: ObjectMeta): string[] {
  const fixed = fixupForUpdate(objectOf({ ...old, ...changes }), objectOf(old)).metadata
  return [
    ...new Set(
      validateMetaUpdate(fixed, old, { namespaced: false })
        .flat()
        .map(({ field, message }) => `${field}: ${message}`),
    ),
  ]
}

test('reports invalid operations, types and names in managedFields with the index of the entry', () => {
  const managedFields: ManagedFieldsEntry[] = [
    { manager: 'a\u0007', operation: 'Update', fieldsType: 'FieldsV1', subresource: 'é'.repeat(129) },
    { operation: 'Sing' as 'Apply', fieldsType: 'x' as 'FieldsV1' },
    { manager: 'kubectl', operation: 'Apply', fieldsType: 'FieldsV1', subresource: 'é'.repeat(128) },
  ]
  const errors = validateMeta({ name: 'a', managedFields }, { namespaced: false })
  expect(errors.map(({ field, type }) => `${field} ${type}`)).toEqual([
    'metadata.managedFields[0].manager FieldValueInvalid',
    'metadata.managedFields[0].subresource FieldValueTooLong',
    'metadata.managedFields[1].operation FieldValueInvalid',
    'metadata.managedFields[1].fieldsType FieldValueInvalid',
  ])
})

describe('namespaces', () => {
  test.each<[string | undefined, boolean, string[]]>([
    ['team-a', true, []],
    [undefined, true, ['metadata.namespace: Required value']],
    ['a.b', true, ['metadata.namespace: Invalid value: "a.b": must not contain dots']],
    ['team-a', false, ['metadata.namespace: Forbidden: not allowed on this type']],
    [undefined, false, []],
  ])('are validated: %j with namespaced %j', (namespace, namespaced, texts) => {
    const metadata = { name: 'a', ...(namespace && { namespace }) }
    expect(validateMeta(metadata, { namespaced }).map(({ field, message }) => `${field}: ${message}`)).toEqual(texts)
  })
})

test.each(cases.sizes as [string, number, string[]][])(
  'limits the size of annotations: %j repeated %d times',
  (char, times, texts) => {
    const metadata = { name: 'a', annotations: { a: char.repeat(times) } }
    expect(validateMeta(metadata, { namespaced: false }).map(({ field, message }) => `${field}: ${message}`)).toEqual(
      texts,
    )
  },
)

describe('an update', () => {
  test.each(cases.updates as [string, ObjectMeta, ObjectMeta, string[]][])('%s', (_, old, changes, texts) =>
    expect(findings(old, changes)).toEqual(texts),
  )

  test('reports most errors three times, but finalizers once', () => {
    const errors = validateMetaUpdate({ ...live, labels: { a: 'not valid!' }, finalizers: ['b d'] }, live, {
      namespaced: false,
    })
    expect(errors.flat().map(({ field }) => field)).toEqual([
      'metadata.labels',
      'metadata.finalizers',
      'metadata.labels',
      'metadata.labels',
    ])
  })
})
