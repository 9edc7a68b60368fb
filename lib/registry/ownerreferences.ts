/**
 * Validates owner references at admission (OwnerReferencesPermissionEnforcement). By sections 2.2 and 7 of the specification,
 * blockOwnerDeletion without delete permission on the owner is 422.
 */

import { forbidden } from '../meta/errors/fielderror.ts'
import { forbiddenResource, invalidObject } from '../meta/errors/status.ts'
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import type { GroupResource, KubeObject, OwnerReference } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'

export interface OwnerReferencePermissions {
  /** Reports whether the user may delete the object that is being changed. */
  mayDeleteSelf(): Promise<boolean>
  /** Reports whether the user may delete the owner; false for an unknown owner, and undefined for one of an unknown kind. */
  mayDeleteOwner(reference: OwnerReference): Promise<boolean | undefined>
}

interface AdmittedObject {
  group: string
  kind: string
  resource: GroupResource
  object: KubeObject
}

/**
 * Throws 403 when the references of an existing object change and the user may not delete that object. Throws 422 with a
 * cause for each reference that newly blocks an owner that the user may not delete. `old` is undefined for a create.
 *
 * kube-apiserver identifies references by uid alone. There, a user can write a reference with the name of their own object
 * and the uid of another user's, and correct the name later. Here, the changed name makes it a new reference.
 */
export async function admitOwnerReferences(
  { group, kind, resource, object }: AdmittedObject,
  old: KubeObject | undefined,
  permissions: OwnerReferencePermissions,
): Promise<void> {
  const references = object.metadata.ownerReferences ?? []
  const before = old?.metadata.ownerReferences ?? []
  if (deepEqual(references, before)) return
  const name = object.metadata.name ?? ''
  if (old !== undefined && !(await permissions.mayDeleteSelf())) {
    throw forbiddenResource(resource, name, "cannot set an ownerRef on a resource you can't delete: , <nil>")
  }
  const alreadyBlocking = before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
  const refused = []
  for (const [index, reference] of references.entries()) {
    if (reference.blockOwnerDeletion !== true || alreadyBlocking.some((one) => isSameOwner(one, reference))) continue
    const mayDelete = await permissions.mayDeleteOwner(reference)
    if (mayDelete) continue
    const { apiVersion, kind: owner } = reference
    const why =
      mayDelete === undefined
        ? `no matches for kind "${owner}" in version "${apiVersion}"`
        : 'you need permission to delete the owner'
    refused.push(
      forbidden(
        `metadata.ownerReferences[${index}].blockOwnerDeletion`,
        `cannot be set on a reference to ${owner} "${reference.name}": ${why}`,
      ),
    )
  }
  if (refused.length > 0) throw invalidObject(group, kind, name, refused)
}
