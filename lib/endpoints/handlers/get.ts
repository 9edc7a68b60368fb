/** GET of one object, or of it through its status subresource. */
import { get } from '../../registry/read.ts'
import { presented } from '../../registry/store.ts'
import { type StoredExchange, type StoredPipeline, set } from '../exchange.ts'
import { revisionOf } from '../lists/selection.ts'
import { first } from '../request.ts'
import { respondObject } from '../respond.ts'
import { acceptable, checkNames, refuseImpersonation } from '../stages.ts'

/** Reads are always of the newest state: every resourceVersion is satisfied that there has been. */
export async function getObject(exchange: StoredExchange): Promise<void> {
  const { request, context, store, kind, warnings } = exchange
  const reached = revisionOf(first(request.query, 'resourceVersion') ?? '')
  const { namespace, name, subresource } = request
  const stored = await get(store, { namespace, name, subresource, reached }, context)
  const object = presented(store, stored, context)
  exchange.response = await respondObject(request, kind, object, set(exchange.output, 'output'), 200, warnings)
}

export const getPipeline: StoredPipeline = {
  verb: 'get',
  stages: [refuseImpersonation, checkNames, acceptable, getObject],
}
