/** PATCH: JSON patch, JSON merge patch, server-side apply. Source: k8s.io/apiserver endpoints/handlers/patch.go. */
import { managementRequest } from '../../authorization/attributes/attributes.ts'
import { decodeApply, strictApplyError } from '../../meta/decoding/codecs.ts'
import { decodeApplied, decodePatched } from '../../meta/decoding/decode.ts'
import type { Floats } from '../../meta/encoding/floats.ts'
import { conflict } from '../../meta/errors/status.ts'
import { serverSideApply, updateManagers } from '../../meta/managedfields/fieldmanager.ts'
import { dedupeOwnerReferences } from '../../meta/object/ownerreferences.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../meta/patch/jsonpatch.ts'
import { decodeMergePatch, mergePatch } from '../../meta/patch/mergepatch.ts'
import { splitWriteOnly } from '../../meta/schema/writeonly.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import type { CreateRequest } from '../../registry/create.ts'
import { groupResource, type KindInfo, type Subresource } from '../../registry/kind.ts'
import type { Outcome } from '../../registry/store.ts'
import { type Updated, updateObject } from '../../registry/update.ts'
import type { Handler, StoredCall, StoredWrite } from '../call.ts'
import { isGuarded, judgeFields } from '../decoderequest.ts'
import { negotiate } from '../negotiation/accept.ts'
import { checkBodySize, patchType } from '../negotiation/bodies.ts'
import type { PatchType } from '../negotiation/mediatypes.ts'
import { patchOptions, withDryRun } from '../options.ts'
import type { ApiResponse } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'
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

/** A parsed JSON patch or merge patch. */
interface ParsedPatch {
  apply(live: JsonObject): { value: JsonValue; floats: Floats }
  /** Duplicate and unknown fields of the patch. */
  findings: readonly string[]
  /** The findings that would be fields of the object. */
  duplicates: readonly string[]
}

/** Patches with a JSON patch or merge patch. The result is decoded like a body, but its mistakes are 422. */
function patcher(write: StoredWrite, parse: (body: Uint8Array, checked: boolean) => ParsedPatch): Patcher {
  const { kind, request, context, options } = write
  const ownership = ownershipOf(write, request.subresource as Subresource)
  return {
    async patch(live) {
      const { apply, findings, duplicates } = parse(request.body, options.fieldValidation !== 'Ignore')
      const { value, floats } = apply(live)
      const found = { duplicates: findings, strict: findings, guarded: duplicates }
      const decoded = decodePatched(value, kind)
      judgeFields(write, value, found, decoded, 'patch')
      const { object, secrets } = splitWriteOnly(ensureNamespace(kind, decoded.object, request.namespace), kind.schema)
      checkName(object, request.name)
      // Dedupe before field management: kube-apiserver counts a duplicate owner once.
      const updated = dedupeOwnerReferences(object, context.warn, 'patch')
      return { object: updateManagers({ ...ownership, live, updated }), secrets, floats }
    },
  }
}

function parseJsonPatch(body: Uint8Array, checked: boolean): ParsedPatch {
  const { operations, duplicates, unknown } = decodeJsonPatch(body, checked)
  return { apply: (live) => applyJsonPatch(live, operations), findings: [...duplicates, ...unknown], duplicates }
}

function parseMergePatch(body: Uint8Array, checked: boolean): ParsedPatch {
  const { patch, duplicates, floats } = decodeMergePatch(body, checked)
  const merge = (live: JsonObject) => (Array.isArray(patch) ? patch : mergePatch(live, patch))
  // Merged fields keep their paths, so every finding is about a field of the object.
  return { apply: (live) => ({ value: merge(live), floats }), findings: duplicates, duplicates }
}

/** Throws 409 for a configuration with a uid: it can only apply to an existing object. */
function refuseUid(kind: KindInfo, { metadata: { uid } }: KubeObject, name: string): void {
  if (!uid) return
  const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`
  throw conflict(groupResource(kind), name, why)
}

/** Refuses or warns about duplicate keys of a configuration, as fieldValidation asks. */
function judgeDuplicates(write: StoredWrite, duplicates: readonly string[]): void {
  const { fieldValidation } = write.options
  const isStrict = fieldValidation === 'Strict' || isGuarded(write)
  if (isStrict && duplicates.length > 0) throw strictApplyError(duplicates)
  if (fieldValidation !== 'Ignore') for (const duplicate of duplicates) write.context.warn(duplicate)
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
      await checkChainAllowsCreate(write)
      const { object, secrets } = await applyTo(undefined)
      const { resourceVersion = '' } = object.metadata
      parseResourceVersion(resourceVersion)
      // A creation ignores the resourceVersion that was sent, but a dry run answers with it.
      return { object: clearServerFields(object), secrets, ...(context.dryRun && { resourceVersion }) }
    },
  }
}

/** Rejects with 403 unless the key's scopes allow a create: the authorizer has checked only the patch. */
async function checkChainAllowsCreate({ services, context, kind, request }: StoredWrite): Promise<void> {
  const { name, namespace } = request
  await services.checkChain(context, managementRequest(kind, { verb: 'create', name, namespace }))
}

function patcherOf(write: StoredWrite, type: PatchType): Patcher {
  switch (type) {
    case 'application/json-patch+json':
      return patcher(write, parseJsonPatch)
    case 'application/merge-patch+json':
      return patcher(write, parseMergePatch)
    case 'application/apply-patch+yaml':
      return applier(write)
  }
}

/** Answers 200 with the object as it is stored now, or 201 when an apply has created it. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { request, store } = call
  refuseImpersonation(call)
  // A patch checks its media type first, even before the names in its path.
  const type = patchType(request.headers)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  const options = patchOptions(request.query, type)
  const context = withDryRun(call.context, options.dryRun)

  const write = { ...call, context, options }
  const { patch, create } = patcherOf(write, type)
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
  const isApply = type === 'application/apply-patch+yaml'
  const outcome = await (isApply ? updateWith(keepManagedFields) : writeWithinSize(updateWith))
  return respondOutcome(write, outcome, output)
}

export const patchHandler: Handler<StoredCall> = { verb: 'patch', handle }
