/**
 * Makes Lambda handlers: `storedHandler(OwnedAccessKey, getHandler)`, `virtualHandler(Self, createVirtualHandler)`. A kind and a
 * verb that do not fit do not compile.
 */

import type { Call, Handler, StoredCall, VirtualCall } from '../endpoints/call.ts'
import type { ApiRequest } from '../endpoints/request.ts'
import { runHandler } from '../endpoints/run.ts'
import type { KubeObject } from '../meta/types.ts'
import type { RequestContext, StoredKind, VirtualKind } from '../registry/kind.ts'
import { type Endpoint, type LambdaHandler, type Notes, serveWith } from './lambda/serve.ts'
import { describeError } from './process/logger.ts'
import { createServer, type Server } from './server.ts'

/** Returns the call of a request, for a kind of either archetype. */
function callOf(request: ApiRequest, server: Server, notes: Notes): Call {
  const warnings: string[] = []
  const warned = new Set<string>()
  return {
    request,
    services: server,
    warnings,
    context: {
      user: request.user,
      now: request.now,
      deadline: request.deadline,
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

const reporting =
  ({ log }: Server, { requestId }: ApiRequest) =>
  (error: unknown): void =>
    log('error', 'request failed', { requestId, error: describeError(error) })

/** Returns the Lambda handler of one verb of a stored kind. Creates everything that it needs when the process starts. */
export function storedHandler(kind: StoredKind<Server>, handler: Handler<StoredCall>): LambdaHandler {
  const { verb } = handler
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const store = server.storeOf(kind)
    const call = { ...callOf(request, server, notes), kind: store.kind, store }
    return runHandler(handler, call, reporting(server, request))
  }
  return serveWith(createServer(process.env), endpoint, { verb, resource: kind.plural, streams: verb === 'list' })
}

/** Returns the Lambda handler of a virtual kind. */
export function virtualHandler(kind: VirtualKind<Server>, handler: Handler<VirtualCall>): LambdaHandler {
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const { namespace, name } = request
    const create = (object: KubeObject, context: RequestContext) =>
      kind.create({ object, namespace, name, context }, server)
    return runHandler(handler, { ...callOf(request, server, notes), kind, create }, reporting(server, request))
  }
  const resource = kind.subresource ? `${kind.plural}/${kind.subresource}` : kind.plural
  return serveWith(createServer(process.env), endpoint, { verb: handler.verb, resource, streams: false })
}
