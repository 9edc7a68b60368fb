import { describe, expect, test } from 'vitest'
import {
  finalizerWarnings,
  fixupForUpdate,
  specDiffers,
  wipeForCreate,
} from '../../../../../lib/engine/meta/object/system.ts'
import type { KubeObject, ObjectMeta } from '../../../../../lib/engine/meta/types.ts'

const deleting: ObjectMeta = {
  name: 'a',
  uid: 'u1',
  resourceVersion: '5',
  generation: 3,
  creationTimestamp: '2026-01-01T00:00:00Z',
  deletionTimestamp: '2026-02-01T00:00:00Z',
  deletionGracePeriodSeconds: 0,
  finalizers: ['e/a'],
}

const objectOf = (metadata: ObjectMeta, more: Partial<KubeObject> = {}): KubeObject => ({
  apiVersion: 'example.test/v1',
  kind: 'Example',
  metadata,
  ...more,
})

test('an update without server-owned metadata keeps it', () => {
  const { generation, ...fixed } = fixupForUpdate(objectOf({ name: 'a' }), objectOf(deleting)).metadata
  const { finalizers: _, generation: old, ...kept } = deleting
  expect(fixed).toEqual(kept)
  expect(generation).toBe(old)
})

test('clears server-owned fields of a new object', () =>
  expect(wipeForCreate({ ...deleting, labels: { a: 'b' }, namespace: 'n' })).toEqual({
    name: 'a',
    namespace: 'n',
    labels: { a: 'b' },
    finalizers: ['e/a'],
  }))

test.each<[string, Partial<KubeObject>, Partial<KubeObject>, boolean]>([
  ['metadata', { metadata: { name: 'b' } }, {}, false],
  ['status', { status: { a: 1 } }, {}, false],
  ['an empty spec', { spec: {} }, {}, true],
  ['the order of a list', { spec: { a: [1, 2] } }, { spec: { a: [2, 1] } }, true],
  ['the order of members', { spec: { a: 1, b: 2 } }, { spec: { b: 2, a: 1 } }, false],
  ['the same integer', { spec: { a: 5n } }, { spec: { a: 5 } }, false],
  ['large integers', { spec: { a: 9007199254740993n } }, { spec: { a: 9007199254740992 } }, true],
])('generation changes with %s: %#', (_, one, other, rises) =>
  expect(specDiffers(objectOf({}, one), objectOf({}, other))).toBe(rises),
)

describe('finalizers', () => {
  const prefer = 'prefer a domain-qualified finalizer name'
  const why = 'to avoid accidental conflicts with other finalizer writers'

  test.each<[ObjectMeta, ObjectMeta | undefined, string[]]>([
    [{ finalizers: ['plain'] }, undefined, [`metadata.finalizers: "plain": ${prefer} ${why}`]],
    [{ finalizers: ['a.b'] }, undefined, [`metadata.finalizers: "a.b": ${prefer} including a path (/) ${why}`]],
    [{ finalizers: ['orphan', 'foregroundDeletion', 'kubernetes', 'a.b/c'] }, undefined, []],
    [
      { finalizers: ['b', 'a', 'b'] },
      { finalizers: ['c'] },
      [`metadata.finalizers: "a": ${prefer} ${why}`, `metadata.finalizers: "b": ${prefer} ${why}`],
    ],
    [{ finalizers: ['plain'] }, { finalizers: ['plain'] }, []],
    [{}, undefined, []],
  ])('cause the right warnings: %j after %j', (metadata, old, warnings) =>
    expect(finalizerWarnings(metadata, old)).toEqual(warnings),
  )
})
