/** PUT. Source: k8s.io/apiserver endpoints/handlers/update.go. */

import { decodeObject } from '../../meta/decoding/decode.ts'
import { updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import { filled } from '../../meta/value/defined.ts'
import type { Subresource } from '../../registry/kind.ts'
import { updateObject } from '../../registry/update.ts'
import type { Handler, StoredCall } from '../call.ts'
import { decodeRequest } from '../decoderequest.ts'
import type { ApiResponse } from '../request.ts'
import { beginUpdate } from '../requestchecks.ts'
import { checkName, ensureNamespace, ownershipOf, respondOutcome, writeWithinSize } from './writesteps.ts'

/** Answers 200 with the object as it is stored now. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { write, type, output } = beginUpdate(call)
  const { request, context, store, kind } = write
  const { object: decoded, floats } = await decodeRequest(write, type, decodeObject)
  const { namespace, name } = request
  const { object, secrets } = splitWriteOnly(ensureNamespace(kind, decoded, namespace), kind.schema)
  checkName(object, name)
  // Dedupe before field management: kube-apiserver counts a duplicate owner once.
  const updated = dedupeOwnerReferences(object, context.warn)
  const subresource = request.subresource as Subresource
  const { uid, resourceVersion } = object.metadata
  const target = { namespace, name, subresource, verb: 'update' as const, ...filled({ uid, resourceVersion }) }
  const ownership = ownershipOf(write, subresource)
  const outcome = await writeWithinSize((finish) =>
    updateObject(
      store,
      {
        ...target,
        transform: (live) => ({ object: finish(updateManagers({ ...ownership, live, updated })), secrets, floats }),
      },
      context,
    ),
  )
  return respondOutcome(write, outcome, output)
}

export const updateHandler: Handler<StoredCall> = { verb: 'update', handle }
