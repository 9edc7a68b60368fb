/** Checks that handlers make before they decode bodies. */

import { quote } from '../meta/encoding/gotext.ts'
import { badRequest, forbiddenPath } from '../meta/errors/status.ts'
import { pathSegmentErrors } from '../meta/object/names.ts'
import type { KindInfo } from '../registry/kind.ts'
import type { Call } from './call.ts'
import { negotiate, type Output } from './negotiation/accept.ts'
import { bodyType, checkBodySize, patchType } from './negotiation/bodies.ts'
import { patchOptions, refuseDryRunLookalikes, updateOptions, withDryRun } from './options.ts'
import type { ApiRequest } from './request.ts'

/** Throws 403 for impersonation headers. This API does not support impersonation and must not ignore a request for it. */
export function refuseImpersonation({ request, context }: Pick<Call, 'request' | 'context'>): void {
  const header = Object.keys(request.headers).find((name) => name.startsWith('impersonate-'))
  if (!header) return
  throw forbiddenPath(`User "${context.user.name}" cannot impersonate: this API does not support impersonation`)
}

/**
 * Throws 400 for a DELETE whose path ends in a slash. A script that sends `$URL/$NAME` with an empty name would delete the whole
 * collection.
 */
function refuseTrailingSlash({ endsInSlash }: ApiRequest): void {
  if (!endsInSlash) return
  throw badRequest(
    'the path of a DELETE may not end in a slash: name the object to delete, or leave out the slash to delete all objects of the collection',
  )
}

/** Throws 400 for a name or namespace in the path that could be read as another path. */
export function checkPathNames({ namespace, name }: Pick<ApiRequest, 'namespace' | 'name'>): void {
  for (const [what, value] of Object.entries({ Namespace: namespace, Name: name })) {
    const [problem] = value === '' ? [] : pathSegmentErrors(value)
    if (problem) throw badRequest(`${what} parameter invalid: ${quote(value)}: ${problem}`)
  }
}

type CallOfKind = Call & { readonly kind: KindInfo }

/** Begins a PUT: returns it with its options, the media type of its body and the form of its answer. */
export function beginUpdate<C extends CallOfKind>(call: C) {
  const { request, kind } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  refuseDryRunLookalikes(request.query, kind)
  const options = updateOptions(request.query)
  const context = withDryRun(call.context, options.dryRun)
  // kube-apiserver checks the media type of an update after its options, and that of a create before its size.
  return { write: { ...call, context, options }, type: bodyType(request.headers), output }
}

/** Begins a PATCH in the same way. It checks its media type first, even before the names in its path. */
export function beginPatch<C extends CallOfKind, T extends string>(call: C, accepted: readonly T[]) {
  const { request, kind } = call
  refuseImpersonation(call)
  const type = patchType(request.headers, accepted)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  refuseDryRunLookalikes(request.query, kind)
  const options = patchOptions(request.query, type)
  return { write: { ...call, context: withDryRun(call.context, options.dryRun), options }, type, output }
}

/** Begins a DELETE: returns the form of its answer. Its options are in its body. */
export function beginDelete(call: CallOfKind): Output {
  const { request, kind } = call
  refuseImpersonation(call)
  refuseTrailingSlash(request)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  refuseDryRunLookalikes(request.query, kind)
  return output
}
