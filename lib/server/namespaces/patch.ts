/** PATCH of a namespace, which returns it unchanged. Unlike stored kinds, namespaces take strategic merge patches: kubectl sends them. */
import { Namespace, namespaceObject } from '../../apis/core/v1/namespace.ts'
import type { Call, Write } from '../../endpoints/call.ts'
import { judgeFields } from '../../endpoints/decoderequest.ts'
import { negotiate } from '../../endpoints/negotiation/accept.ts'
import { checkBodySize, patchType } from '../../endpoints/negotiation/bodies.ts'
import { type PatchType, patchTypes } from '../../endpoints/negotiation/mediatypes.ts'
import { patchOptions, withDryRun } from '../../endpoints/options.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { checkPathNames, refuseImpersonation } from '../../endpoints/requestchecks.ts'
import { decodeApply, strictApplyError } from '../../meta/decoding/codecs.ts'
import { decodeApplied, decodePatched } from '../../meta/decoding/decode.ts'
import { applyJsonPatch, decodeJsonPatch } from '../../meta/patch/jsonpatch.ts'
import { decodeMergePatch, mergePatch } from '../../meta/patch/mergepatch.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import { isObject } from '../../meta/value/walk.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'
import { checkExists, checkMayCreate, unchanged } from './unchanged.ts'

const STRATEGIC = 'application/strategic-merge-patch+json'
const accepted = [...patchTypes, STRATEGIC] as const
type NamespacePatchType = PatchType | typeof STRATEGIC

/** Removes the directives of a strategic merge patch, such as `$setElementOrder/finalizers`. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDirectives)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !name.startsWith('$'))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDirectives(member)]))
}

/** Returns the namespace that an apply asks for. */
async function applied(write: Write, live: JsonObject): Promise<KubeObject> {
  const { request, options, context } = write
  const { config, duplicates } = await decodeApply(request.body)
  if (options.fieldValidation === 'Strict' && duplicates.length > 0) throw strictApplyError(duplicates)
  if (options.fieldValidation !== 'Ignore') for (const duplicate of duplicates) context.warn(duplicate)
  const decoded = decodeApplied(config, Namespace)
  judgeFields(write, config, { duplicates: [], strict: [], guarded: [] }, decoded)
  return mergePatch(live, decoded.object as unknown as JsonObject) as unknown as KubeObject
}

/** Returns the namespace that a patch asks for. */
async function patched(write: Write, type: NamespacePatchType, live: JsonObject): Promise<KubeObject> {
  if (type === 'application/apply-patch+yaml') return applied(write, live)
  const { request, options } = write
  const checked = options.fieldValidation !== 'Ignore'
  const parsed = type === 'application/json-patch+json' ? jsonPatch() : merge()
  const { value, findings } = parsed
  const decoded = decodePatched(value, Namespace)
  judgeFields(write, value, { duplicates: findings, strict: findings, guarded: [] }, decoded, 'patch')
  return decoded.object

  function jsonPatch() {
    const { operations, duplicates, unknown } = decodeJsonPatch(request.body, checked)
    return { value: applyJsonPatch(live, operations).value, findings: [...duplicates, ...unknown] }
  }
  function merge() {
    const { patch, duplicates } = decodeMergePatch(request.body, checked)
    const wanted = type === STRATEGIC ? withoutDirectives(patch) : patch
    return { value: isObject(wanted) ? mergePatch(live, wanted) : wanted, findings: duplicates }
  }
}

async function answer(call: Call, server: Server): Promise<ApiResponse> {
  const { request } = call
  refuseImpersonation(call)
  const type = patchType<typeof STRATEGIC>(request.headers, accepted)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  const options = patchOptions(request.query, type)
  const write = { ...call, context: withDryRun(call.context, options.dryRun), options, kind: Namespace }
  await checkMayCreate(write, server)
  checkExists(request.name, type === 'application/apply-patch+yaml')
  const live = namespaceObject(request.name, server.config.issuer)
  const sent = await patched(write, type, live as unknown as JsonObject)
  return unchanged(write, sent, live, output, call.warnings)
}

/** Returns the Lambda handler that answers patches of namespaces. */
export const patchHandler = (): Promise<LambdaHandler> => computedHandler(Namespace, 'patch', answer)
