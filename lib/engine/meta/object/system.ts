/**
 * Manages the server-owned fields of an object: clears them on creation and carries them over on update.
 * Source: k8s.io/apiserver/pkg/registry/rest/{create,update,meta}.go, apiextensions-apiserver customresource strategy.
 */

import type { KubeObject, ObjectMeta } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { defined } from '../value/defined.ts'
import { deepEqual } from '../value/equal.ts'
import { qualifiedNameErrors } from './names.ts'

/** Clears the server-owned fields of a new object's metadata. */
export function wipeForCreate(metadata: ObjectMeta): ObjectMeta {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, ...rest } = metadata
  const { deletionGracePeriodSeconds, ...kept } = rest
  return kept
}

/**
 * Restores the fields that an update cannot change, before validation rejects any remaining difference. The caller has
 * compared the resourceVersion already, as a number.
 */
export function fixupForUpdate(updated: KubeObject, old: KubeObject): KubeObject {
  const { generation, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } =
    old.metadata
  const { generation: _, ...metadata } = updated.metadata
  return {
    ...updated,
    metadata: {
      ...defined({ deletionGracePeriodSeconds }),
      ...metadata,
      ...defined({ generation, uid: metadata.uid || uid }),
      ...defined({ creationTimestamp, deletionTimestamp, resourceVersion }),
    },
  }
}

/** Reports whether generation must increase: anything except metadata and status differs. An absent spec differs from an empty one. */
export function specDiffers(
  { metadata: _, status: __, ...updated }: KubeObject,
  { metadata: ___, status: ____, ...old }: KubeObject,
): boolean {
  return !deepEqual(updated, old)
}

const STANDARD_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes']

/** Returns warnings about new finalizers whose names could conflict with those of other writers. */
export function finalizerWarnings({ finalizers }: ObjectMeta, old?: ObjectMeta): string[] {
  const added = [...new Set(finalizers).difference(new Set(old?.finalizers))].sort(byBytes)
  return added
    .filter(
      (name) => !name.includes('/') && !STANDARD_FINALIZERS.includes(name) && qualifiedNameErrors(name).length === 0,
    )
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : ''
      return `metadata.finalizers: "${name}": prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`
    })
}
