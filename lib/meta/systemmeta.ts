/**
 * What of an object belongs to the server: wiped from what clients send, carried over from what is stored.
 * Source: k8s.io/apiserver/pkg/registry/rest/{create,update,meta}.go, apiextensions-apiserver customresource strategy.
 */

import { byBytes } from './byteorder.ts'
import { deepEqual } from './equal.ts'
import { badRequest, plainError } from './errors.ts'
import { qualifiedNameErrors } from './names.ts'
import type { KubeObject, ObjectMeta } from './types.ts'

/** The object of a creation as the client may have it: without system metadata, with generation 1, without status. */
export function wipeForCreate({ status: _, ...object }: KubeObject): KubeObject {
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, ...metadata } = object.metadata
  return { ...object, metadata: { ...metadata, generation: 1 } }
}

const MAX_UINT64 = 2n ** 64n - 1n

/**
 * The metadata of a creation without its resourceVersion. A number other than 0 is refused with kube-apiserver's 500;
 * anything else counts as not set.
 */
export function withoutResourceVersion({ resourceVersion = '', ...metadata }: ObjectMeta): ObjectMeta {
  const isNumber = /^\d{1,20}$/.test(resourceVersion) && BigInt(resourceVersion) <= MAX_UINT64
  if (isNumber && BigInt(resourceVersion) !== 0n) {
    throw plainError('resourceVersion should not be set on objects to be created')
  }
  return metadata
}

/** The metadata with the namespace of the request ('' = cluster-scoped). Throws 400 when it names another one. */
export function inNamespace({ namespace = '', ...metadata }: ObjectMeta, requested: string): ObjectMeta {
  if (requested === '') return metadata
  if (namespace !== '' && namespace !== requested) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...metadata, namespace: requested }
}

/** Throws 400 unless the object has the name of the URL. */
export function demandName({ name = '' }: ObjectMeta, requested: string): void {
  if (name === '') {
    throw badRequest(`the name of the object (${requested} based on URL) was undeterminable: name must be provided`)
  }
  if (name !== requested) {
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${requested})`)
  }
}

/** `updated` with what no update changes, before it is validated. What then still differs is an error. */
export function fixupForUpdate(updated: KubeObject, old: KubeObject): KubeObject {
  const { generation, uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = old.metadata
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
