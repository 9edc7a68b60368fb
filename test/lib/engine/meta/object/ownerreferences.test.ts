import { describe, expect, test } from 'vitest'
import { dedupeOwnerReferences } from '../../../../../lib/engine/meta/object/ownerreferences.ts'
import type { KubeObject, OwnerReference } from '../../../../../lib/engine/meta/types.ts'

const objectOf = (metadata: KubeObject['metadata']): KubeObject => ({
  apiVersion: 'example.test/v1',
  kind: 'Example',
  metadata,
})

describe('duplicate owner references', () => {
  const owner: OwnerReference = { apiVersion: 'v1', kind: 'Namespace', name: 'default', uid: 'u' }
  const rest =
    'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: u, u'

  test.each([
    ['body', `.metadata.ownerReferences contains duplicate entries; ${rest}`],
    ['patch', `.metadata.ownerReferences contains duplicate entries after mutating admission happens; ${rest}`],
  ] as const)('of a %s are dropped with a warning', (source, text) => {
    const warnings: string[] = []
    const other = { ...owner, controller: true }
    const object = objectOf({ name: 'a', ownerReferences: [owner, other, { ...owner }, { ...owner }] })
    const deduped = dedupeOwnerReferences(object, (warning) => warnings.push(warning), source)
    expect(deduped.metadata.ownerReferences).toEqual([owner, other])
    expect(object.metadata.ownerReferences).toHaveLength(4)
    expect(warnings).toEqual([text])
  })

  test('must be equal in all members, not only in their uid', () => {
    const object = objectOf({ ownerReferences: [owner, { ...owner, name: 'x' }] })
    expect(dedupeOwnerReferences(object, () => expect.unreachable())).toBe(object)
  })
})
