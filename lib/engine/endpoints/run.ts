/**
 * Runs the handler of a verb and turns errors into Statuses.
 *
 * Each verb checks requests in kube-apiserver's order, which differs between verbs: it decides which of several errors a client
 * sees (k8s.io/apiserver endpoints/handlers). Authentication and the scope chain come first, in the authorizer
 * (server/authorizer.ts). One module per verb, in handlers/, keeps other verbs out of a function's bundle.
 */
import { toStatusError } from '../registry/storageerrors.ts'
import type { Call, Handler } from './call.ts'
import { negotiateStatus } from './negotiation/accept.ts'
import { type ApiResponse, askedRevision } from './request.ts'
import { respondError } from './respond.ts'

/** Returns the handler's answer, or the Status of what it throws. `report` receives failures whose cause only the log may show. */
export async function runHandler<C extends Call>(
  { handle }: Handler<C>,
  call: C,
  report: (error: unknown) => void,
): Promise<ApiResponse> {
  try {
    return await handle(call)
  } catch (error) {
    const { request, context, warnings, services } = call
    const failure = toStatusError(error, askedRevision(request))
    // A client's mistake is not logged: its message may quote the request.
    if (failure.fault !== 'client') report(error)
    const { status } = failure
    if (status.code === 401 || status.code === 403) context.note('refusal', status.message ?? '')
    // The form of a Status is negotiated only now: successful answers do not need it.
    const more = services.explain(status, request.headers['user-agent'])
    return respondError(failure, negotiateStatus(request), [...warnings, ...more])
  }
}
