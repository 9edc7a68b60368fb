/**
 * Makes the Lambda handler of a kind and a verb: `storedHandler(OwnedAccessKey, getPipeline)`,
 * `virtualHandler(Self, virtualPipeline)`. The compiler rejects a verb that the kind does not support.
 */
import type { Exchange, StoredPipeline, VirtualPipeline } from '../endpoints/exchange.ts'
import { run } from '../endpoints/pipeline.ts'
import type { ApiRequest } from '../endpoints/request.ts'
import type { KubeObject } from '../meta/types.ts'
import type { StoredKind, VirtualKind } from '../registry/kind.ts'
import { type Endpoint, type LambdaHandler, type Notes, serveWith } from './lambda/serve.ts'
import { describeError } from './process/log.ts'
import { createServer, type Server } from './server.ts'

/** Returns the exchange that the stages of a request share. */
function exchangeOf(request: ApiRequest, server: Server, notes: Notes): Exchange {
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
      get dryRun() {
        return notes.dryRun === true
      },
      // Stages set it; the record has to say it even of a request that is given up.
      set dryRun(dry) {
        if (dry) notes.dryRun = true
      },
      warn(text) {
        if (warned.has(text)) return
        warned.add(text)
        warnings.push(text)
      },
      note: (key, value) => {
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

/** Returns the handler of one verb of a stored kind. It creates the server when the process starts. */
export function storedHandler(kind: StoredKind<Server>, { verb, stages }: StoredPipeline): LambdaHandler {
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const store = server.storeOf(kind)
    const exchange = { ...exchangeOf(request, server, notes), kind: store.kind, store }
    return run(exchange, stages, reporting(server, request))
  }
  return serveWith(createServer(process.env), endpoint, { verb, resource: kind.plural, streams: verb === 'list' })
}

/** Returns the handler of a virtual kind. */
export function virtualHandler(kind: VirtualKind<Server>, { verb, stages }: VirtualPipeline): LambdaHandler {
  const endpoint: Endpoint<Server> = (request, server, notes) => {
    const { namespace, name } = request
    const exchange = exchangeOf(request, server, notes)
    const create = (object: KubeObject) => kind.create({ object, namespace, name, context: exchange.context }, server)
    return run({ ...exchange, kind, create }, stages, reporting(server, request))
  }
  const resource = kind.subresource ? `${kind.plural}/${kind.subresource}` : kind.plural
  return serveWith(createServer(process.env), endpoint, { verb, resource, streams: false })
}
