import { describe, expect, test } from 'vitest'
import { fixupForUpdate } from '../../../../lib/meta/object/system.ts'
import { validateMeta, validateMetaUpdate } from '../../../../lib/meta/object/validatemeta.ts'
import type { ManagedFieldsEntry, ObjectMeta } from '../../../../lib/meta/types.ts'

const live: ObjectMeta = {
  name: 'a',
  uid: 'u1',
  resourceVersion: '5',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
}
const deleting: ObjectMeta = {
  ...live,
  deletionTimestamp: '2026-02-01T00:00:00Z',
  deletionGracePeriodSeconds: 0,
  finalizers: ['e/a'],
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

test.each([
  ['x', 262_143, []],
  ['x', 262_144, ['metadata.annotations: Too long: may not be more than 262144 bytes']],
  ['ü', 131_072, ['metadata.annotations: Too long: may not be more than 262144 bytes']],
])('limits the size of annotations: %j repeated %d times', (char, times, texts) => {
  const metadata = { name: 'a', annotations: { a: char.repeat(times) } }
  expect(validateMeta(metadata, { namespaced: false }).map(({ field, message }) => `${field}: ${message}`)).toEqual(
    texts,
  )
})

describe('an update', () => {
  const immutable = (field: string, shown: string): string[] => [
    `metadata.${field}: Invalid value: ${shown}: field is immutable`,
  ]

  test.each<[string, ObjectMeta, ObjectMeta, string[]]>([
    [
      'may change labels, annotations and finalizers',
      live,
      { labels: { a: 'b' }, annotations: { x: 'y' }, finalizers: ['e/f'] },
      [],
    ],
    ['may not change uid', live, { uid: 'zzz' }, immutable('uid', '"zzz"')],
    ['may not change name', live, { name: 'b' }, immutable('name', '"b"')],
    [
      'may not set deletionTimestamp',
      live,
      { deletionTimestamp: '2020-01-01T00:00:00Z' },
      immutable('deletionTimestamp', '"2020-01-01T00:00:00Z"'),
    ],
    [
      'may not set deletionGracePeriodSeconds',
      live,
      { deletionGracePeriodSeconds: 7 },
      immutable('deletionGracePeriodSeconds', '7'),
    ],
    [
      'may not shorten deletionGracePeriodSeconds',
      deleting,
      { deletionGracePeriodSeconds: 7 },
      immutable('deletionGracePeriodSeconds', '7'),
    ],
    [
      'cannot move creationTimestamp, generation or a set deletionTimestamp',
      deleting,
      { creationTimestamp: '2020-01-01T00:00:00Z', generation: 99, deletionTimestamp: '2020-01-01T00:00:00Z' },
      [],
    ],
    ['may remove finalizers of an object that is being deleted', deleting, { finalizers: [] }, []],
    [
      'may not add finalizers to an object that is being deleted',
      deleting,
      { finalizers: ['e/a', 'e/z', 'e/f', 'e/f'] },
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"e/f", "e/z"}',
      ],
    ],
    ['validates a new generateName only as a path segment', live, { generateName: 'Bad_' }, []],
    [
      'rejects a generateName with a slash',
      live,
      { generateName: 'a/b' },
      ['metadata.generateName: Invalid value: "a/b": may not contain \'/\''],
    ],
  ])('%s', (_, old, changes, texts) => {
    expect(findings(old, changes)).toEqual(texts)
  })

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
