/**
 * The Lambda handler of a verb of a kind: `handler(OwnedAccessKey, 'create')`. An event becomes a request, the pipeline
 * answers, one audit record is logged, with its metrics. The only place that knows middy.
 */
import middy from '@middy/core'
import { executionModeStreamifyResponse } from '@middy/core/StreamifyResponse'
import type { APIGatewayProxyEvent } from 'aws-lambda'
import type { Exchange } from '../endpoints/exchange.ts'
import type { Output } from '../endpoints/negotiation.ts'
import { run, storedPipelines, virtualPipeline } from '../endpoints/pipeline.ts'
import type { ApiRequest, ApiResponse } from '../endpoints/request.ts'
import { respondStatus } from '../endpoints/respond.ts'
import { internalError, StatusError, undecided } from '../meta/errors.ts'
import type { Kind, Note, StoredVerb, VerbOf } from '../registry/kind.ts'
import { auditRecord, judgementOf } from './audit.ts'
import { compressed } from './compression.ts'
import { isRecorded, reasonOf, refusalOf, userOf } from './context.ts'
import { type LambdaResponse, statusForm, toApiRequest, toLambdaResponse } from './lambda.ts'
import { describeError } from './log.ts'
import { callsMeasured, counting, noCalls } from './metrics.ts'
import { publicAnswer } from './public.ts'
import { createServer, type Server } from './services.ts'

/** Handlers give up before the gateway's 29 s, so that the client gets a Status. */
const giveUpMs = 20_000

/** What a function does with a request; adds to the notes of its audit record. */
export type Endpoint = (request: ApiRequest, server: Server, notes: Notes) => Promise<ApiResponse>
export type Notes = Record<string, Note>

interface Invocation {
  verb: string
  resource: string
  streams: boolean
}

// biome-ignore lint/suspicious/noExplicitAny: the types of middy's modes and of Lambda's streams do not meet.
export type LambdaHandler = any

/** The time limit is for the beginning of an answer; a stream ends itself. */
async function withinTime(answer: Promise<ApiResponse>, form: Output | undefined): Promise<ApiResponse> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<ApiResponse>((_, reject) => {
    const text = 'request did not complete within requested timeout - context deadline exceeded'
    timer = setTimeout(() => reject(undecided(text)), giveUpMs)
  })
  try {
    return await Promise.race([answer, late])
  } catch (error) {
    if (error instanceof StatusError) return respondStatus(error.status, form)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Runs an endpoint for an event: the user comes from the authorizer, without one the answer is its refusal. */
async function answer(
  event: APIGatewayProxyEvent,
  server: Server,
  endpoint: Endpoint,
  notes: Notes,
): Promise<ApiResponse> {
  const open = await publicAnswer(event, server)
  if (open) {
    notes.access = 'public'
    return open
  }
  const form = statusForm(event)
  const refusal = refusalOf(event)
  if (refusal) return respondStatus(refusal.status, form)
  const user = userOf(event)
  Object.assign(notes, { user: user.name, key: user.key.name, keyUid: user.key.uid, ...reasonOf(event) })
  return withinTime(endpoint(toApiRequest(event, user, server.now()), server, notes), form)
}

/** A Lambda handler around an endpoint. Everything that it needs is made when the process starts. */
export function serve(endpoint: Endpoint, { verb, resource, streams }: Invocation): LambdaHandler {
  const server = createServer(process.env)
  const dimensions = { endpoint: `${resource} ${verb}` }
  const invoke = async (event: APIGatewayProxyEvent): Promise<LambdaResponse> => {
    const began = performance.now()
    const notes: Notes = {}
    const calls = noCalls()
    const { requestId } = event.requestContext
    const answered = counting(calls, () => answer(event, server, endpoint, notes))
    const response = await answered.catch((error: unknown) => {
      server.log('error', 'request failed', { requestId, error: describeError(error) })
      return respondStatus(internalError(error).status, undefined)
    })
    if (!isRecorded(event)) {
      const { status: code } = response
      const { judgement, facts } = judgementOf(notes, code)
      const latencyMs = Math.round(performance.now() - began)
      server.log('info', 'audit', auditRecord(event, server.config, { facts, judgement, code, latencyMs }), [
        {
          dimensions,
          values: { latencyMs, clientErrors: code >= 400 && code < 500 ? 1 : 0, serverErrors: code >= 500 ? 1 : 0 },
        },
        callsMeasured(calls),
      ])
    }
    return compressed(toLambdaResponse(response, requestId), event, streams)
  }
  return middy(streams ? { executionMode: executionModeStreamifyResponse } : {}).handler(invoke as never)
}

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

function endpointOf(kind: Kind<Server>, verb: StoredVerb): Endpoint {
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

/** The handler of one verb of one kind; verbs that a kind does not have do not compile. */
export function handler<K extends Kind<Server>>(kind: K, verb: VerbOf<K>): LambdaHandler {
  const below = kind.archetype === 'virtual' && kind.subresource ? `/${kind.subresource}` : ''
  const resource = kind.plural + below
  return serve(endpointOf(kind, verb), { verb, resource, streams: verb === 'list' })
}
