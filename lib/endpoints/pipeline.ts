/**
 * What happens to a request, per verb, in order. The orders are kube-apiserver's and differ between verbs: they decide
 * which of several errors a client sees (k8s.io/apiserver endpoints/handlers).
 *
 * Authentication and the scope chain come before all of it, in the authorizer (server/authorizer.ts).
 */
import { badRequest, forbiddenPath, internalError, StatusError } from '../meta/errors.ts'
import { pathSegmentErrors } from '../meta/names.ts'
import { toStatusError } from '../registry/errors.ts'
import type { StoredVerb } from '../registry/kind.ts'
import { StorageError } from '../storage/errors.ts'
import { bodyType, checkSize, patchType } from './bodies.ts'
import type { Exchange, Stage, StoredExchange, VirtualExchange } from './exchange.ts'
import { createObject } from './handlers/create.ts'
import { deleteCollection, deleteObject } from './handlers/delete.ts'
import { getObject } from './handlers/get.ts'
import { listObjects } from './handlers/list.ts'
import { patchObject } from './handlers/patch.ts'
import { updateObject } from './handlers/update.ts'
import { createVirtual } from './handlers/virtual.ts'
import { watchObjects } from './handlers/watch.ts'
import { negotiate, negotiateStatus } from './negotiation.ts'
import { listOptions, writeOptions } from './options.ts'
import { type ApiResponse, first } from './request.ts'
import { respondStatus } from './respond.ts'

/** Impersonation is not offered; a header that asks for it must not be passed over in silence. */
function refuseImpersonation({ request, context }: Exchange): void {
  const header = Object.keys(request.headers).find((name) => name.startsWith('impersonate-'))
  if (!header) return
  throw forbiddenPath(`User "${context.user.name}" cannot impersonate: this API does not support impersonation`)
}

/** Names in a path: 400 for what could be taken for another path. */
function checkNames({ request: { namespace, name } }: Exchange): void {
  for (const [what, value] of Object.entries({ Namespace: namespace, Name: name })) {
    const [problem] = value === '' ? [] : pathSegmentErrors(value)
    if (problem) throw badRequest(`${what} parameter invalid: ${JSON.stringify(value)}: ${problem}`)
  }
}

function acceptable(exchange: Exchange): void {
  const { headers, query } = exchange.request
  exchange.output = negotiate(headers, first(query, 'pretty'))
}

const sized = ({ request }: Exchange): void => checkSize(request.body)
const typed = ({ request }: Exchange): void => void bodyType(request.headers)
const patchTyped = ({ request }: Exchange): void => void patchType(request.headers)

const withOptions =
  (kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions') =>
  (exchange: Exchange): void => {
    const { query, headers } = exchange.request
    const apply = kind === 'PatchOptions' && patchType(headers) === 'application/apply-patch+yaml'
    exchange.writeOptions = writeOptions(query, kind, apply)
    exchange.context.dryRun = exchange.writeOptions.dryRun
  }

function withListOptions(exchange: Exchange): void {
  const { query, headers } = exchange.request
  const options = listOptions(query, true)
  exchange.listOptions = options
  exchange.output = negotiate(headers, first(query, 'pretty'), { watch: options.watch })
}

const listOrWatch: Stage<StoredExchange> = (exchange) =>
  exchange.listOptions?.watch ? watchObjects(exchange) : listObjects(exchange)

// biome-ignore format: one row per verb
export const storedPipelines: Readonly<Record<StoredVerb, readonly Stage<StoredExchange>[]>> = {
  create:           [refuseImpersonation, checkNames, acceptable, typed, sized, withOptions('CreateOptions'), createObject],
  get:              [refuseImpersonation, checkNames, acceptable, getObject],
  list:             [refuseImpersonation, checkNames, withListOptions, listOrWatch],
  update:           [refuseImpersonation, checkNames, acceptable, sized, withOptions('UpdateOptions'), typed, updateObject],
  patch:            [refuseImpersonation, patchTyped, checkNames, acceptable, sized, withOptions('PatchOptions'), patchObject],
  delete:           [refuseImpersonation, checkNames, acceptable, sized, deleteObject],
  deletecollection: [refuseImpersonation, checkNames, acceptable, sized, deleteCollection],
}

export const virtualPipeline: readonly Stage<VirtualExchange>[] = [
  refuseImpersonation,
  checkNames,
  acceptable,
  sized,
  withOptions('CreateOptions'),
  createVirtual,
]

/** The Status of any failure; `report` gets what only the log may know. */
function statusOf(error: unknown, report: (error: unknown) => void): StatusError {
  if (error instanceof StatusError) {
    // A 500 without a reason is a mistake of the client, and its text may quote what was sent.
    if (error.status.code >= 500 && error.status.reason !== undefined) report(error)
    return error
  }
  report(error)
  return error instanceof StorageError ? toStatusError(error) : internalError(error)
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
    const { status } = statusOf(error, report)
    if (status.code === 401 || status.code === 403) exchange.context.note('refusal', status.message ?? '')
    const { headers, query } = exchange.request
    return respondStatus(status, negotiateStatus(headers, first(query, 'pretty')), exchange.warnings)
  }
}
