/** GET of a subresource that is computed when it is read. It has no revisions, so no resourceVersion asks for another state. */
import type { KubeObject } from '../../meta/types.ts'
import type { ComputedKind, VirtualRequest } from '../../registry/kind.ts'
import type { Call } from '../call.ts'
import { negotiate } from '../negotiation/accept.ts'
import type { ApiResponse } from '../request.ts'
import { checkPathNames, refuseImpersonation } from '../requestchecks.ts'
import { respondObject } from '../respond.ts'

/** Answers 200 with what `read` returns for the parent in the path. */
export async function answerComputed(
  call: Call,
  kind: ComputedKind,
  read: (request: Omit<VirtualRequest, 'object'>) => Promise<KubeObject>,
): Promise<ApiResponse> {
  const { request, context, warnings } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request)
  const { namespace, name } = request
  const object = await read({ namespace, name, context: { ...context, dryRun: false } })
  return respondObject(request, kind, object, output, 200, warnings)
}
