/** PUT of a namespace, which returns it unchanged. */
import { Namespace, namespaceObject } from '../../apis/core/v1/namespace.ts'
import type { Call } from '../../endpoints/call.ts'
import { decodeRequest } from '../../endpoints/decoderequest.ts'
import type { ApiResponse } from '../../endpoints/request.ts'
import { beginUpdate } from '../../endpoints/requestchecks.ts'
import { decodeBuiltIn } from '../../meta/decoding/decode.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'
import { checkExists, checkMayCreate, respondUnchanged } from './respondunchanged.ts'

async function answer(call: Call, server: Server): Promise<ApiResponse> {
  const { write, type, output } = beginUpdate({ ...call, kind: Namespace })
  const { name } = write.request
  await checkMayCreate(write, server)
  const { object } = await decodeRequest(write, type, decodeBuiltIn)
  checkExists(name, false)
  return respondUnchanged(write, object, namespaceObject(name, server.config.issuer), output)
}

export const updateHandler = (): Promise<LambdaHandler> => computedHandler('update', answer)
