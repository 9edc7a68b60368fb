/** GET of one object or of its status subresource. Source: k8s.io/apiserver endpoints/handlers/get.go. */
import { getObject } from '../../registry/read.ts'
import { presenterOf } from '../../registry/store.ts'
import type { Handler, StoredCall } from '../call.ts'
import { parseRevision } from '../lists/selection.ts'
import { negotiate } from '../negotiation/accept.ts'
import { type ApiResponse, queryValue } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'
import { respondObject } from '../respond.ts'

/** Answers with the newest state, which satisfies every resourceVersion that has existed. */
async function handle(call: StoredCall): Promise<ApiResponse> {
  const { request, store, kind, warnings } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request)
  const reached = parseRevision(queryValue(request.query, 'resourceVersion') ?? '')
  const { namespace, name, subresource } = request
  const context = { ...call.context, dryRun: false }
  const stored = await getObject(store, { namespace, name, subresource, reached }, context)
  const present = await presenterOf(store, [stored.internal], context)
  return respondObject(request, kind, present(stored), output, 200, warnings)
}

export const getHandler: Handler<StoredCall> = { verb: 'get', handle }
