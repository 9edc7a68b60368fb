/** Defines the steps that writes share. Source: k8s.io/apiserver endpoints/handlers/rest.go. */

import { badRequest } from '../../meta/errors/status.ts'
import { defaultFieldManager } from '../../meta/object/managername.ts'
import { joinWriteOnly } from '../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../meta/types.ts'
import type { StoredKind, Subresource } from '../../registry/kind.ts'
import { managerArguments } from '../../registry/managerarguments.ts'
import { type Outcome, presentObject } from '../../registry/store.ts'
import { StorageError } from '../../storage/errors.ts'
import type { StoredWrite, Write } from '../call.ts'
import type { Output } from '../negotiation/accept.ts'
import type { ApiResponse } from '../request.ts'
import { respondObject, uncached } from '../respond.ts'

/** Puts an object into the namespace of its path; cluster-scoped objects lose theirs. Throws 400 when the two differ. */
export function ensureNamespace(kind: Pick<StoredKind, 'scope'>, object: KubeObject, namespace: string): KubeObject {
  const { namespace: own, ...metadata } = object.metadata
  if (kind.scope === 'Cluster') return { ...object, metadata }
  if (own && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

/** Throws 400 unless the object has the name of its path. */
export function checkName(object: KubeObject, name: string): void {
  const own = object.metadata.name ?? ''
  if (own === name) return
  throw badRequest(
    own === ''
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${own}) does not match the name on the URL (${name})`,
  )
}

/** Returns who manages the written fields: the fieldManager parameter, else the program that the User-Agent names. */
export const ownershipOf = ({ request, context, options, kind }: Write, subresource: Subresource) => {
  const manager = options.fieldManager || defaultFieldManager(request.headers['user-agent'] ?? '')
  return managerArguments(kind, manager, context.now, subresource)
}

/** The last change to an object before it is stored. */
export type Finish = (object: KubeObject) => KubeObject

export const keepManagedFields: Finish = (object) => object

function dropManagedFields({ metadata: { managedFields: _, ...metadata }, ...rest }: KubeObject): KubeObject {
  return { ...rest, metadata }
}

/**
 * Writes, and writes again without managedFields when the object is too large with them. They can be as large as the rest
 * of the object, and later writes rebuild them.
 * Source: isTooLargeError in k8s.io/apiserver endpoints/handlers (create, update, patch).
 */
export async function writeWithinSize<T>(write: (finish: Finish) => Promise<T>): Promise<T> {
  try {
    return await write(keepManagedFields)
  } catch (error) {
    if (!(error instanceof StorageError && error.code === 'TooLarge')) throw error
    return write(dropManagedFields)
  }
}

/** Answers with the object as reads present it. A creation also reveals its generated secrets, once. */
export async function respondOutcome(
  { store, context, kind, request, warnings }: StoredWrite,
  { stored, reveal, created }: Outcome,
  output: Output,
): Promise<ApiResponse> {
  const { name = '', uid = '' } = stored.object.metadata
  context.note('name', name)
  context.note('uid', uid)
  const read = presentObject(store, stored, context)
  const code = created ? 201 : 200
  if (!created || !reveal || context.dryRun) return respondObject(request, kind, read, output, code, warnings)
  return uncached(await respondObject(request, kind, joinWriteOnly(read, reveal), output, code, warnings))
}
