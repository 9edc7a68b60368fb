/** PUT of a namespace, which returns it unchanged. */
import { Namespace, namespaceObject } from '../../apis/core/v1/namespace.ts'
import type { Call } from '../../endpoints/call.ts'
import { decodeRequest } from '../../endpoints/decoderequest.ts'
import { negotiate } from '../../endpoints/negotiation/accept.ts'
import { bodyType, checkBodySize } from '../../endpoints/negotiation/bodies.ts'
import { updateOptions, withDryRun } from '../../endpoints/options.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { checkPathNames, refuseImpersonation } from '../../endpoints/requestchecks.ts'
import { decodeBuiltIn } from '../../meta/decoding/decode.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'
import { checkExists, checkMayCreate, unchanged } from './unchanged.ts'

async function answer(call: Call, server: Server): Promise<ApiResponse> {
  const { request } = call
  refuseImpersonation(call)
  checkPathNames(request)
  const output = negotiate(request)
  checkBodySize(request.body)
  const options = updateOptions(request.query)
  const write = { ...call, context: withDryRun(call.context, options.dryRun), options, kind: Namespace }
  const type = bodyType(request.headers)
  await checkMayCreate(write, server)
  const { object } = await decodeRequest(write, type, decodeBuiltIn)
  checkExists(request.name, false)
  const live = namespaceObject(request.name, server.config.issuer)
  return unchanged(write, object, live, output, call.warnings)
}

/** Returns the Lambda handler that answers updates of namespaces. */
export const updateHandler = (): Promise<LambdaHandler> => computedHandler(Namespace, 'update', answer)
