/**
 * Answers writes of a namespace. Clients that ensure a namespace, such as Helm and Terraform, get it unchanged, with a Warning
 * about what is not kept. The scopes must allow the create as well: an apply of a missing namespace would create it.
 */
import { Namespace } from '../../apis/core/v1/namespace.ts'
import { managementRequest } from '../../authorization/attributes/attributes.ts'
import type { Call, Write } from '../../endpoints/call.ts'
import { checkName } from '../../endpoints/handlers/writesteps.ts'
import type { Output } from '../../endpoints/negotiation/accept.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { respondObject } from '../../endpoints/respond.ts'
import { typeErrors } from '../../meta/decoding/decode.ts'
import { invalidObject, notFound } from '../../meta/errors/status.ts'
import { dnsLabelErrors } from '../../meta/object/names.ts'
import { checkUid } from '../../meta/object/preconditions.ts'
import { labelNames, validateMeta } from '../../meta/object/validatemeta.ts'
import type { KubeObject } from '../../meta/types.ts'
import { deepEqual } from '../../meta/value/equal.ts'
import { groupResource } from '../../registry/kind.ts'
import type { Server } from '../server.ts'

const resource = groupResource(Namespace)

/** Rejects with 403 unless the scopes allow a create of the namespace: the authorizer has checked only the update or patch. */
export const checkMayCreate = (
  { request: { name }, context }: Write,
  server: Pick<Server, 'checkChain'>,
): Promise<void> => server.checkChain(context, managementRequest(Namespace, { verb: 'create', namespace: name, name }))

/** Throws 404 for a name that no namespace can have; for an apply, which would create the namespace, 422. */
export function checkExists(name: string, isApply: boolean): void {
  if (dnsLabelErrors(name).length === 0) return
  if (!isApply) throw notFound(resource, name)
  throw invalidObject('', Namespace.kind, name, validateMeta({ name }, { namespaced: false }, labelNames))
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
export function respondUnchanged(
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
