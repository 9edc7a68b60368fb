/**
 * Serves kinds to everybody: `node lib/engine/example/serve.ts [PORT]`, from memory or from the DynamoDB table that TABLE_NAME names.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { discoveryDocuments } from '../documents/discovery.ts'
import { openApiDocuments } from '../documents/openapidocuments.ts'
import type { EndpointServices, Handler, StoredCall } from '../endpoints/call.ts'
import { answerDiscovery } from '../endpoints/discovery/discovery.ts'
import { answerOpenApi } from '../endpoints/discovery/openapi.ts'
import { createHandler } from '../endpoints/handlers/create.ts'
import { deleteCollectionHandler, deleteHandler } from '../endpoints/handlers/delete.ts'
import { getHandler } from '../endpoints/handlers/get.ts'
import { listHandler } from '../endpoints/handlers/list.ts'
import { patchHandler } from '../endpoints/handlers/patch.ts'
import { updateHandler } from '../endpoints/handlers/update.ts'
import type { ApiRequest, ApiResponse } from '../endpoints/request.ts'
import { pageNotFound } from '../endpoints/respond.ts'
import { callOf, runHandler } from '../endpoints/run.ts'
import { warningHeaders } from '../endpoints/warnings.ts'
import { groupVersion } from '../meta/groupversion.ts'
import { type StoredKind, statusVerbs } from '../registry/kind.ts'
import type { User } from '../registry/user.ts'
import { driver } from '../storage/dynamodb/driver.ts'
import type { Items } from '../storage/items.ts'
import { storageOver } from '../storage/protocol/storage.ts'
import { itemsOf } from '../storage/sqlite/sqlite.ts'
import { openTable } from '../storage/sqlite/table.ts'
import { Lamp, Note } from './kinds.ts'

const sleep = (ms: number): Promise<void> => delay(ms)

const services: EndpointServices = {
  checkAllowed: async () => {},
  currentGeneration: async () => 1,
  allowedGeneration: () => 1,
  explain: () => [],
  watchLimits: { maxSeconds: 3600, quietSeconds: 0 },
  openWatch: async () => ({ keep: async () => {}, close: async () => {} }),
  sleep,
  every(ms, act) {
    const timer = setInterval(act, ms)
    return () => clearInterval(timer)
  },
  elapsed: () => performance.now(),
}

const handlers: Readonly<Record<string, { one?: Handler<StoredCall>; all?: Handler<StoredCall> }>> = {
  GET: { one: getHandler, all: listHandler },
  POST: { all: createHandler },
  PUT: { one: updateHandler },
  PATCH: { one: patchHandler },
  DELETE: { one: deleteHandler, all: deleteCollectionHandler },
}

const report = (error: unknown): void => void process.stderr.write(`${error}\n`)

const route = /^\/apis\/([^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(status))?$/

/** Returns what answers requests for the kinds, whose objects are stored in these items. */
function answering(kinds: readonly StoredKind[], items: Items): (request: ApiRequest) => Promise<ApiResponse> {
  const common = {
    storage: storageOver(items, { now: Date.now, random: Math.random, sleep }),
    uuid: randomUUID,
    randomInt: (bound: number) => randomInt(bound),
    mayDelete: async () => true,
    administers: () => 'everybody',
    guard: async <M>(_store: unknown, _current: unknown, mutation: M) => mutation,
    authorOf: ({ user }: Pick<ApiRequest, 'user'>) => ({ user: user.name }),
  }
  const stores = kinds.map((kind) => ({ ...common, kind, strategy: kind.strategy(undefined as never) }))
  const openApi = openApiDocuments(kinds, { title: 'example', version: 'v1', license: { name: 'Apache-2.0', url: '' } })
  const discovery = discoveryDocuments(kinds)
  return async (request) => {
    const { method, path, namespace, name, subresource } = request
    const call = callOf(request, services, {})
    const [, served, , plural] = route.exec(path) ?? []
    const store = stores.find(({ kind }) => kind.plural === plural && groupVersion(kind) === served)
    if (!store) {
      const isOpenApi = path.startsWith('/openapi/')
      const handle = () => (isOpenApi ? answerOpenApi(openApi, request) : answerDiscovery(discovery, request))
      return runHandler({ verb: 'get', handle }, call, report)
    }
    const { kind } = store
    const handler = handlers[method]?.[name ? 'one' : 'all']
    const isThere = (kind.scope === 'Namespaced') === (namespace !== '') || (handler === listHandler && !namespace)
    const isStatus = kind.schema.status && statusVerbs.some((verb) => verb === handler?.verb)
    if (!handler || !isThere || (subresource && !isStatus)) return pageNotFound
    return runHandler(handler, { ...call, kind, store }, report)
  }
}

// A program around the engine may declare more members.
const user = { name: 'somebody' } as User

/** Returns the request of a message, whoever sends it. */
async function requestOf(incoming: IncomingMessage): Promise<ApiRequest> {
  const { method = '', url = '', headers } = incoming
  const { pathname: path, searchParams } = new URL(url, 'http://localhost')
  const [, , namespace = '', , name = '', subresource = ''] = route.exec(path) ?? []
  const query = new Map([...new Set(searchParams.keys())].map((key) => [key, searchParams.getAll(key)]))
  const sent = { headers: headers as ApiRequest['headers'], body: await buffer(incoming) }
  const made = { user, requestId: randomUUID(), now: new Date(), deadline: () => 30_000 }
  return { ...sent, ...made, method, path, namespace, name, subresource, query }
}

/** Returns a server for the kinds, whose objects are stored in these items. */
export function serve(kinds: readonly StoredKind[], items: Items): Server {
  const answer = answering(kinds, items)
  return createServer(async (incoming, outgoing) => {
    try {
      const { status, headers, warnings, body } = await answer(await requestOf(incoming))
      outgoing.setHeader('warning', warningHeaders(warnings)).writeHead(status, headers)
      await pipeline(Readable.from(body instanceof Uint8Array ? [body] : body), outgoing)
    } catch {
      // Whoever watches leaves in the middle of the answer.
      outgoing.destroy()
    }
  })
}

if (import.meta.main) {
  const { now } = Date
  const { TABLE_NAME: table } = process.env
  const items = table
    ? driver.open(table, { now, uuid: randomUUID, called: () => {} })
    : itemsOf(openTable(':memory:', now), now)
  const server = serve([Note, Lamp], items).listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.stdout.write(`kubectl --server=http://127.0.0.1:${port} get lamps\n`)
  })
}
