/**
 * Runs the handler of a verb and turns errors into Statuses.
 *
 * Each verb checks requests in kube-apiserver's order, which differs between verbs: it decides which of several errors a client
 * sees (k8s.io/apiserver endpoints/handlers). Authentication and authorization come first, before any handler.
 * One module per verb, in handlers/, keeps other verbs out of a function's bundle.
 */
import type { Note } from '../registry/kind.ts'
import { toStatusError } from '../registry/storageerrors.ts'
import type { Call, EndpointServices, Handler } from './call.ts'
import { negotiateStatus } from './negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, askedRevision } from './request.ts'
import { respondError } from './respond.ts'

/** What a request adds to its audit record. */
export type Notes = Record<string, Note>

/** Returns the call of a request, which collects its warnings, each once, and its notes. */
export function callOf(request: ApiRequest, services: EndpointServices, notes: Notes): Call {
  const warnings: string[] = []
  const warned = new Set<string>()
  const { user, now, deadline, requestId } = request
  return {
    request,
    services,
    warnings,
    context: {
      user,
      now,
      deadline,
      requestId,
      warn(text) {
        if (warned.has(text)) return
        warned.add(text)
        warnings.push(text)
      },
      note(key, value) {
        if (value === undefined) delete notes[key]
        else notes[key] = value
      },
    },
  }
}

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
