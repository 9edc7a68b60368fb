/**
 * Runs a request through the stages of its verb. Their orders are kube-apiserver's and differ between verbs: they decide which
 * of several errors a client sees (k8s.io/apiserver endpoints/handlers). Each is beside its verb, in handlers/, so that the
 * bundle of a function has nothing of other verbs.
 *
 * Authentication and the scope chain come before all of it, in the authorizer (server/authorizer.ts).
 */
import { internalError, StatusError } from '../meta/errors/status.ts'
import { toStatusError } from '../registry/errors.ts'
import { StorageError } from '../storage/errors.ts'
import type { Exchange, Stage } from './exchange.ts'
import { negotiateStatus } from './negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, askedRevision, first } from './request.ts'
import { respondError } from './respond.ts'

/** The Status of any failure; `report` gets what only the log may know. */
function statusOf(error: unknown, request: ApiRequest, report: (error: unknown) => void): StatusError {
  if (error instanceof StatusError) {
    // The text of a mistake of the client may quote what was sent.
    if (error.fault !== 'client') report(error)
    return error
  }
  const failure = error instanceof StorageError ? toStatusError(error, askedRevision(request)) : internalError(error)
  if (failure.fault !== 'client') report(error)
  return failure
}

/** Runs the stages; always answers, errors as Statuses. */
export async function run<E extends Exchange>(
  exchange: E,
  stages: readonly Stage<E>[],
  report: (error: unknown) => void,
): Promise<ApiResponse> {
  try {
    for (const stage of stages) await stage(exchange)
    if (exchange.response) return exchange.response
    throw new Error('no stage answered')
  } catch (error) {
    const failure = statusOf(error, exchange.request, report)
    const { status } = failure
    if (status.code === 401 || status.code === 403) exchange.context.note('refusal', status.message ?? '')
    const { headers, query } = exchange.request
    return respondError(failure, negotiateStatus(headers, first(query, 'pretty')), exchange.warnings)
  }
}
