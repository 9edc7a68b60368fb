/** POST of a stored object. Source: k8s.io/apiserver endpoints/handlers/create.go. */
import { decodeObject } from '../../meta/decoding/decode.ts'
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { wipeForCreate } from '../../meta/object/system.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../meta/types.ts'
import { type CreateRequest, createObject } from '../../registry/create.ts'
import { accessError, accessToCreate, noteRule } from '../../registry/store.ts'
import type { Handler, StoredCall, StoredWrite } from '../call.ts'
import { decodeRequest } from '../decoderequest.ts'
import { negotiate } from '../negotiation/accept.ts'
import { bodyType, checkBodySize } from '../negotiation/bodies.ts'
import { createOptions, refuseDryRunLookalikes, withDryRun } from '../options.ts'
import type { ApiResponse } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'
import { ensureNamespace, ownershipOf, respondOutcome, writeWithinSize } from './writesteps.ts'

/** Throws 403 unless the user may create objects of the kind. The registry authorizes the particular object later. */
export function checkMayCreate({ store, kind, context, request }: StoredWrite, verb: 'create' | 'patch'): void {
  const access = accessToCreate(store, context)
  if (access.type === 'allowed') {
    noteRule(access, context)
    return
  }
  const { namespace, name } = request
  throw accessError(kind, access, { verb, subresource: '', namespace, name }, context)
}

/** Clears server-owned fields of a new object. */
export function clearServerFields({ status: _, ...object }: KubeObject): KubeObject {
  return { ...object, metadata: wipeForCreate(object.metadata) }
}

/** Answers 201 with the object, which shows its generated secrets this once. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { request, store, kind } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request)
  const type = bodyType(request.headers)
  checkBodySize(request.body)
  refuseDryRunLookalikes(request.query, kind)
  const options = createOptions(request.query)
  const context = withDryRun(call.context, options.dryRun)
  const write = { ...call, context, options }
  // Before decoding: users who may not create learn nothing about their body.
  checkMayCreate(write, 'create')

  const { object: decoded, floats } = await decodeRequest(write, type, decodeObject)
  const own = ensureNamespace(kind, decoded, request.namespace)
  const { object, secrets } = splitWriteOnly({ ...own, metadata: wipeForCreate(own.metadata) }, kind.schema)
  // Dedupe before field management: kube-apiserver counts a duplicate owner once.
  const updated = dedupeOwnerReferences(object, context.warn)
  // Clear the status after field management: a status of the wrong type leaves the object without managers.
  const managed = clearServerFields(updateManagers({ ...ownershipOf(write, ''), live: undefined, updated }))
  const { resourceVersion } = decoded.metadata
  const rest: Omit<CreateRequest, 'object'> = { secrets, floats, ...(resourceVersion && { resourceVersion }) }
  const outcome = await writeWithinSize((finish) => createObject(store, { object: finish(managed), ...rest }, context))
  return respondOutcome(write, outcome, output)
}

export const createHandler: Handler<StoredCall> = { verb: 'create', handle }
