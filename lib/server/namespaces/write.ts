/**
 * Answers PUT and PATCH of a namespace with the namespace as it is. Clients that ensure a namespace, such as Helm and Terraform, get a
 * Warning about what is not kept. The scopes must allow the create as well: an apply of a missing namespace would create it.
 */

import { Namespace, namespaceObject } from '../../clusters/namespace.ts'
import type { Call, Write } from '../../engine/endpoints/call.ts'
import { decodeRequest, judgeFields } from '../../engine/endpoints/decoderequest.ts'
import { checkName } from '../../engine/endpoints/handlers/writesteps.ts'
import type { Output } from '../../engine/endpoints/negotiation/accept.ts'
import { patchTypes } from '../../engine/endpoints/negotiation/bodies.ts'
import { applyPatch, judgeDuplicates, patchParsers } from '../../engine/endpoints/patches.ts'
import type { ApiResponse } from '../../engine/endpoints/request.ts'
import { beginPatch, beginUpdate } from '../../engine/endpoints/requestchecks.ts'
import { respondObject } from '../../engine/endpoints/respond.ts'
import { decodeApply } from '../../engine/meta/decoding/codecs.ts'
import { decodeApplied, decodeBuiltIn, typeErrors } from '../../engine/meta/decoding/decode.ts'
import { invalidObject, notFound } from '../../engine/meta/errors/status.ts'
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'
import { checkUid } from '../../engine/meta/object/preconditions.ts'
import { labelNames, validateMeta } from '../../engine/meta/object/validatemeta.ts'
import { mergePatch } from '../../engine/meta/patch/mergepatch.ts'
import type { JsonValue, KubeObject } from '../../engine/meta/types.ts'
import { deepEqual } from '../../engine/meta/value/equal.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import { attributesOf } from '../../engine/registry/attributes.ts'
import { groupResource } from '../../engine/registry/kind.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'

const resource = groupResource(Namespace)
const APPLY = 'application/apply-patch+yaml'
/** Unlike stored kinds, namespaces take strategic merge patches: kubectl sends them. */
const STRATEGIC = 'application/strategic-merge-patch+json'

export const updateHandler = (): Promise<LambdaHandler> =>
  computedHandler('update', async (call, server) => {
    const { write, type, output } = beginUpdate({ ...call, kind: Namespace })
    await checkMayCreate(write, server)
    const { object } = await decodeRequest(write, type, decodeBuiltIn)
    return respondUnchanged(write, object, namespaceOf(write, server), output)
  })

export const patchHandler = (): Promise<LambdaHandler> =>
  computedHandler('patch', async (call, server) => {
    const { write, type, output } = beginPatch({ ...call, kind: Namespace }, [...patchTypes, STRATEGIC])
    await checkMayCreate(write, server)
    const live = namespaceOf(write, server, type === APPLY)
    const sent = type === APPLY ? await applied(write, live) : await patched(write, type, live)
    return respondUnchanged(write, sent, live, output)
  })

/** Rejects with 403 unless the scopes allow a create of the namespace: the authorizer has checked only the update or patch. */
const checkMayCreate = ({ request: { name }, context }: Write, server: Server): Promise<void> =>
  server.checkAllowed(context, attributesOf(Namespace, { verb: 'create', namespace: name, name }))

/** Returns the namespace. Throws 404 for a name that no namespace can have; for an apply, which would create the namespace, 422. */
function namespaceOf({ request: { name } }: Write, server: Server, isApply = false): KubeObject {
  if (dnsLabelErrors(name).length === 0) return namespaceObject(name, server.config.issuer)
  if (!isApply) throw notFound(resource, name)
  throw invalidObject('', Namespace.kind, name, validateMeta({ name }, { namespaced: false }, labelNames))
}

/** Returns the namespace that an apply asks for. */
async function applied(write: Write, live: KubeObject): Promise<KubeObject> {
  const { config, duplicates } = await decodeApply(write.request.body)
  judgeDuplicates(write, duplicates)
  const decoded = decodeApplied(config, Namespace)
  judgeFields(write, config, { duplicates: [], strict: [], guarded: [] }, decoded)
  return mergePatch(live, decoded.object) as KubeObject
}

/** Returns the namespace that another patch asks for. */
async function patched(
  write: Write,
  type: keyof typeof patchParsers | typeof STRATEGIC,
  live: KubeObject,
): Promise<KubeObject> {
  // A strategic merge patch of a namespace differs from a merge patch only in its directives.
  const { object } = await (type === STRATEGIC
    ? applyPatch(write, patchParsers['application/merge-patch+json'], live, withoutDirectives)
    : applyPatch(write, patchParsers[type], live))
  return object
}

/** Removes the directives of a strategic merge patch, such as `$setElementOrder/finalizers`. */
function withoutDirectives(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(withoutDirectives)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => !name.startsWith('$'))
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutDirectives(member)]))
}

/** Returns the fields that a request sets and the namespace does not have. */
function notKept(sent: KubeObject, live: KubeObject): string[] {
  const maps = (['labels', 'annotations'] as const).flatMap((field) => {
    const own = live.metadata[field] ?? {}
    const keys = Object.entries(sent.metadata[field] ?? {}).filter(([key, value]) => own[key] !== value)
    return keys.map(([key]) => `metadata.${field}[${key}]`)
  })
  const lists = (['finalizers', 'ownerReferences'] as const).filter((field) => sent.metadata[field]?.length)
  const { finalizers = live.spec?.finalizers } = sent.spec ?? {}
  const own = deepEqual(finalizers, live.spec?.finalizers) ? [] : ['spec.finalizers']
  return [...maps, ...lists.map((field) => `metadata.${field}`), ...own]
}

/** A Warning names at most this many fields. */
const MOST_NAMED = 10

/** Answers with the unchanged namespace, and a Warning about what the request sets. Throws 400, 409 and 422. */
function respondUnchanged(
  { request, context, warnings }: Write & Pick<Call, 'warnings'>,
  sent: KubeObject,
  live: KubeObject,
  output: Output,
): Promise<ApiResponse> {
  checkName(sent, request.name)
  const errors = [...typeErrors(sent, Namespace), ...validateMeta(sent.metadata, { namespaced: false }, labelNames)]
  if (errors.length > 0) throw invalidObject('', Namespace.kind, request.name, errors)
  checkUid(resource, sent.metadata.uid, live.metadata)
  const fields = notKept(sent, live)
  const more = fields.length > MOST_NAMED ? ` and ${fields.length - MOST_NAMED} more` : ''
  if (fields.length > 0) {
    context.warn(`namespaces are not stored, so this is not kept: ${fields.slice(0, MOST_NAMED).join(', ')}${more}`)
  }
  return respondObject(request, Namespace, live, output, 200, warnings)
}
