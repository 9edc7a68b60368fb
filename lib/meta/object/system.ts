/**
 * What of an object belongs to the server: wiped from what clients send, carried over from what is stored.
 * Source: k8s.io/apiserver/pkg/registry/rest/{create,update,meta}.go, apiextensions-apiserver customresource strategy.
 */

import type { KubeObject, ObjectMeta } from '../types.ts'
import { byBytes } from '../value/byteorder.ts'
import { deepEqual } from '../value/equal.ts'
import { qualifiedNameErrors } from './names.ts'

/** The metadata of a creation as a client may give it: without what the server sets. */
export function wipeForCreate(metadata: ObjectMeta): ObjectMeta {
  const { uid, resourceVersion, generation, creationTimestamp, deletionTimestamp, ...rest } = metadata
  const { deletionGracePeriodSeconds, ...kept } = rest
  return kept
}

/**
 * `updated` with what no update changes, before it is validated. What then still differs is an error; the resourceVersion has
 * been compared, as a number.
 */
export function fixupForUpdate(updated: KubeObject, old: KubeObject): KubeObject {
  const { generation, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, resourceVersion } =
    old.metadata
  const { generation: _, ...metadata } = updated.metadata
  return {
    ...updated,
    metadata: {
      ...(deletionGracePeriodSeconds !== undefined && { deletionGracePeriodSeconds }),
      ...metadata,
      ...(generation !== undefined && { generation }),
      ...(uid !== undefined && !metadata.uid && { uid }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
  }
}

/** Whether generation must rise: anything but metadata and status differs; an absent spec is another than an empty one. */
export function specDiffers(
  { metadata: _, status: __, ...updated }: KubeObject,
  { metadata: ___, status: ____, ...old }: KubeObject,
): boolean {
  return !deepEqual(updated, old)
}

const STANDARD_FINALIZERS = ['orphan', 'foregroundDeletion', 'kubernetes']

/** Warnings about finalizers that are new in this write and that others may use by accident. */
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
