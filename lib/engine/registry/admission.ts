/**
 * Admits planned writes. Owner references are judged as by OwnerReferencesPermissionEnforcement. By sections 2.2 and 7 of the specification,
 * blockOwnerDeletion without delete permission on the owner is 422.
 */

import { forbidden } from '../meta/errors/fielderror.ts'
import { forbiddenResource, invalidObject } from '../meta/errors/status.ts'
import { isSameOwner } from '../meta/object/ownerreferences.ts'
import { finalizerWarnings } from '../meta/object/system.ts'
import type { KubeObject } from '../meta/types.ts'
import { deepEqual } from '../meta/value/equal.ts'
import { groupResource, type RequestContext } from './kind.ts'
import type { PlannedWrite, Store } from './store.ts'

/**
 * Adds the warnings of a planned write. Throws its refusal, 403 if the rules of the kind do not let the user write the object, and 403 or
 * 422 for its owner references. `old` is undefined for a create.
 */
export async function admit(
  store: Store,
  { object, warnings = [], refusal, forbidsChange }: PlannedWrite,
  old: KubeObject | undefined,
  context: RequestContext,
): Promise<void> {
  for (const warning of [...finalizerWarnings(object.metadata, old?.metadata), ...warnings]) context.warn(warning)
  const reason = refusal ?? (old && forbidsChange && !deepEqual(object, old) ? forbidsChange : undefined)
  if (typeof reason === 'object') throw reason
  if (reason !== undefined) throw forbiddenResource(groupResource(store.kind), object.metadata.name ?? '', reason)
  await admitOwnerReferences(store, object, old, context)
}

/**
 * Throws 403 when the references of an existing object change and the user may not delete that object. Throws 422 with a
 * cause for each reference that newly blocks an owner that the user may not delete. `old` is undefined for a create.
 *
 * kube-apiserver identifies references by uid alone. There, a user can write a reference with the name of their own object
 * and the uid of another user's, and correct the name later. Here, the changed name makes it a new reference.
 */
async function admitOwnerReferences(
  { kind, mayDelete }: Store,
  object: KubeObject,
  old: KubeObject | undefined,
  context: RequestContext,
): Promise<void> {
  const { name = '', namespace = '', uid = '', ownerReferences: references = [] } = object.metadata
  const before = old?.metadata.ownerReferences ?? []
  if (deepEqual(references, before)) return
  const self = { apiVersion: object.apiVersion, kind: kind.kind, name, uid }
  if (old !== undefined && (await mayDelete(self, namespace, context)) !== true) {
    throw forbiddenResource(groupResource(kind), name, "cannot set an ownerRef on a resource you can't delete: , <nil>")
  }
  const alreadyBlocking = before.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
  const refused = []
  for (const [index, reference] of references.entries()) {
    if (reference.blockOwnerDeletion !== true || alreadyBlocking.some((one) => isSameOwner(one, reference))) continue
    const isAllowed = await mayDelete(reference, namespace, context)
    if (isAllowed) continue
    const { apiVersion, kind: owner } = reference
    const why =
      isAllowed === undefined
        ? `no matches for kind "${owner}" in version "${apiVersion}"`
        : 'you need permission to delete the owner'
    refused.push(
      forbidden(
        `metadata.ownerReferences[${index}].blockOwnerDeletion`,
        `cannot be set on a reference to ${owner} "${reference.name}": ${why}`,
      ),
    )
  }
  if (refused.length > 0) throw invalidObject(kind.group, kind.kind, name, refused)
}
