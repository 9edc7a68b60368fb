/** PATCH: JSON patch, JSON merge patch, server-side apply. Source: k8s.io/apiserver endpoints/handlers/patch.go. */

import { decodeApply } from '../../meta/decoding/codecs.ts'
import { decodeApplied } from '../../meta/decoding/decode.ts'
import { conflict } from '../../meta/errors/status.ts'
import { serverSideApply, updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { KubeObject } from '../../meta/types.ts'
import { attributesOf } from '../../registry/attributes.ts'
import type { CreateRequest } from '../../registry/create.ts'
import { groupResource, type KindInfo, type Subresource } from '../../registry/kind.ts'
import type { Outcome } from '../../registry/store.ts'
import { type Updated, updateObject } from '../../registry/update.ts'
import type { Handler, StoredCall, StoredWrite } from '../call.ts'
import { patchTypes } from '../negotiation/bodies.ts'
import { applyPatch, judgeDuplicates, type PatchParser, patchParsers } from '../patches.ts'
import type { ApiResponse } from '../request.ts'
import { beginPatch } from '../requestchecks.ts'
import { checkMayCreate, clearServerFields } from './create.ts'
import {
  checkName,
  ensureNamespace,
  type Finish,
  keepManagedFields,
  ownershipOf,
  respondOutcome,
  writeWithinSize,
} from './writesteps.ts'

/** Makes the new object from the live one. Reads the body only then: a missing object is reported before a malformed patch. */
interface Patcher {
  patch(live: KubeObject): Promise<Updated>
  /** Creates a missing object; only for an apply of the object itself. */
  create?(): Promise<CreateRequest>
}

/** Patches with a JSON patch or merge patch. */
function patcher(write: StoredWrite, parse: PatchParser): Patcher {
  const { kind, request, context } = write
  const ownership = ownershipOf(write, request.subresource as Subresource)
  return {
    async patch(live) {
      const { object: patched, floats } = await applyPatch(write, parse, live)
      const { object, secrets } = splitWriteOnly(ensureNamespace(kind, patched, request.namespace), kind.schema)
      checkName(object, request.name)
      // Dedupe before field management: kube-apiserver counts a duplicate owner once.
      const updated = dedupeOwnerReferences(object, context.warn, 'patch')
      return { object: updateManagers({ ...ownership, live, updated }), secrets, floats }
    },
  }
}

/** Throws 409 for a configuration with a uid: it can only apply to an existing object. */
function refuseUid(kind: KindInfo, { metadata: { uid } }: KubeObject, name: string): void {
  if (!uid) return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(groupResource(kind), name, why)
}

/** Patches by server-side apply. */
function applier(write: StoredWrite): Patcher {
  const { kind, request, context, options } = write
  const subresource = request.subresource as Subresource
  const ownership = ownershipOf(write, subresource)
  const { force = false } = options
  const applyTo = async (live: KubeObject | undefined): Promise<Updated> => {
    const { config, duplicates } = await decodeApply(request.body)
    const { object, secrets } = splitWriteOnly(config as KubeObject, kind.schema)
    const merged = serverSideApply({ ...ownership, live, config: object, force })
    // Duplicate keys come after the conflicts and errors of the merge, as in kube-apiserver.
    judgeDuplicates(write, duplicates)
    const decoded = decodeApplied(merged, kind)
    for (const warning of decoded.warnings) context.warn(warning)
    if (live === undefined) refuseUid(kind, decoded.object, request.name)
    const own = ensureNamespace(kind, decoded.object, request.namespace)
    checkName(own, request.name)
    return { object: dedupeOwnerReferences(own, context.warn, 'patch'), secrets }
  }
  if (subresource !== '') return { patch: applyTo }
  return {
    patch: applyTo,
    async create() {
      checkMayCreate(write, 'patch')
      // The authorizer has checked only the patch.
      const { name, namespace } = request
      await write.services.checkAllowed(context, attributesOf(kind, { verb: 'create', name, namespace }))
      const { object, secrets } = await applyTo(undefined)
      const { resourceVersion = '' } = object.metadata
      parseResourceVersion(resourceVersion)
      // A creation ignores the resourceVersion that was sent, but a dry run answers with it.
      return { object: clearServerFields(object), secrets, ...(context.dryRun && { resourceVersion }) }
    },
  }
}

/** Answers 200 with the object as it is stored now, or 201 when an apply has created it. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { write, type, output } = beginPatch(call, patchTypes)
  const { request, context, store } = write
  const isApply = type === 'application/apply-patch+yaml'
  const { patch, create } = isApply ? applier(write) : patcher(write, patchParsers[type])
  const { namespace, name } = request
  const subresource = request.subresource as Subresource
  const target = { namespace, name, subresource, verb: 'patch' as const, ...(create && { createInstead: create }) }
  const updateWith = (finish: Finish): Promise<Outcome> =>
    updateObject(
      store,
      {
        ...target,
        async transform(live) {
          const patched = await patch(live)
          return { ...patched, object: finish(patched.object) }
        },
      },
      context,
    )
  // An apply keeps its managedFields even if the object is too large with them: its fields must be owned.
  const outcome = await (isApply ? updateWith(keepManagedFields) : writeWithinSize(updateWith))
  return respondOutcome(write, outcome, output)
}

export const patchHandler: Handler<StoredCall> = { verb: 'patch', handle }
