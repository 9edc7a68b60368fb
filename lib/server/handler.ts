/**
 * Makes Lambda handlers: `storedHandler(OwnedAccessKey, getHandler)`, `virtualHandler(Self, createVirtualHandler)`. A kind and a
 * verb that do not fit do not compile.
 */

import type { Call, Handler, StoredCall, VirtualCall } from '../engine/endpoints/call.ts'
import { answerComputed } from '../engine/endpoints/handlers/computed.ts'
import type { ApiRequest, ApiResponse } from '../engine/endpoints/request.ts'
import { callOf, runHandler } from '../engine/endpoints/run.ts'
import { describeError } from '../engine/meta/errors/describe.ts'
import type { KubeObject } from '../engine/meta/types.ts'
import type { ComputedKind, RequestContext, StoredKind, StoredVerb, VirtualKind } from '../engine/registry/kind.ts'
import type { Table } from '../engine/storage/interface.ts'
import type { LambdaHandler } from './lambda/runtime.ts'
import { type Endpoint, serveWith } from './lambda/serve.ts'
import { createServer, type Server } from './server.ts'
import { warmUp } from './warmup.ts'

const reporting =
  ({ log }: Server, { requestId }: ApiRequest) =>
  (error: unknown): void =>
    log('error', 'request failed', { requestId, error: describeError(error) })

/** Returns the Lambda handler of one verb of a stored kind. Creates everything that it needs when the process starts. */
export async function storedHandler(kind: StoredKind<Server>, handler: Handler<StoredCall>): Promise<LambdaHandler> {
  const { verb } = handler
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const store = server.storeOf(kind)
    const call = { ...callOf(request, server, notes), kind: store.kind, store }
    return runHandler(handler, call, reporting(server, request))
  }
  return startFunction(endpoint, { streams: verb === 'list' }, kind.table)
}

export async function virtualHandler(kind: VirtualKind<Server>, handler: Handler<VirtualCall>): Promise<LambdaHandler> {
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const { namespace, name } = request
    const create = (object: KubeObject, context: RequestContext) =>
      kind.create({ object, namespace, name, context }, server)
    return runHandler(handler, { ...callOf(request, server, notes), kind, create }, reporting(server, request))
  }
  return startFunction(endpoint, { streams: false }, undefined)
}

/**
 * Returns the Lambda handler of one verb of a kind whose objects are computed. `answer` may read the objects of a stored kind,
 * whose table the function then loads at start.
 */
export async function computedHandler(
  verb: StoredVerb,
  answer: (call: Call, server: Server) => Promise<ApiResponse>,
  table?: Table,
): Promise<LambdaHandler> {
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const handler: Handler<Call> = { verb, handle: (call) => answer(call, server) }
    return runHandler(handler, callOf(request, server, notes), reporting(server, request))
  }
  return startFunction(endpoint, { streams: verb === 'list' }, table)
}

/** Returns the Lambda handler that reads a computed kind. Its parents are those of a stored kind with this table. */
export const computedKindHandler = (kind: ComputedKind<Server>, table: Table): Promise<LambdaHandler> =>
  computedHandler('get', (call, server) => answerComputed(call, kind, (request) => kind.read(request, server)), table)

async function startFunction(
  endpoint: Endpoint<Server>,
  output: { streams: boolean },
  table: Table | undefined,
): Promise<LambdaHandler> {
  const server = createServer(process.env)
  await warmUp(server, process.env, table)
  return serveWith(server, endpoint, output)
}
