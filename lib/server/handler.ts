/** The Lambda handler of a verb of a kind, `handler(OwnedAccessKey, 'create')`: the pipeline answers. */
import type { Exchange } from '../endpoints/exchange.ts'
import { run, storedPipelines, virtualPipeline } from '../endpoints/pipeline.ts'
import type { ApiRequest } from '../endpoints/request.ts'
import type { Kind, StoredVerb, VerbOf } from '../registry/kind.ts'
import { describeError } from './log.ts'
import { type Endpoint, type LambdaHandler, type Notes, serveWith } from './serve.ts'
import { createServer, type Server } from './services.ts'

/** What stages share, for any kind. */
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
        notes[key] = value
      },
    },
  }
}

function endpointOf(kind: Kind<Server>, verb: StoredVerb): Endpoint<Server> {
  return (request, server, notes) => {
    const exchange = exchangeOf(request, server, notes)
    const report = (error: unknown) =>
      server.log('error', 'request failed', { requestId: request.requestId, error: describeError(error) })
    if (kind.archetype === 'stored') {
      const store = server.storeOf(kind)
      return run({ ...exchange, kind: store.kind, store }, storedPipelines[verb], report)
    }
    const { namespace, name } = request
    const { context } = exchange
    const create = (object: Parameters<typeof kind.create>[0]['object']) =>
      kind.create({ object, namespace, name, context }, server)
    return run({ ...exchange, kind, create }, virtualPipeline, report)
  }
}

/**
 * The handler of one verb of one kind; verbs that a kind does not have do not compile. Everything that it needs is made when
 * the process starts.
 */
export function handler<K extends Kind<Server>>(kind: K, verb: VerbOf<K>): LambdaHandler {
  const below = kind.archetype === 'virtual' && kind.subresource ? `/${kind.subresource}` : ''
  const resource = kind.plural + below
  return serveWith(createServer(process.env), endpointOf(kind, verb), { verb, resource, streams: verb === 'list' })
}
