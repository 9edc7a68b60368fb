/**
 * Serves the kinds of the example: `node lib/engine/example/serve.ts [PORT]`, from memory or from the DynamoDB table that TABLE_NAME names.
 * Everybody may do everything.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { EndpointServices, Handler, StoredCall } from '../endpoints/call.ts'
import { createHandler } from '../endpoints/handlers/create.ts'
import { deleteCollectionHandler, deleteHandler } from '../endpoints/handlers/delete.ts'
import { getHandler } from '../endpoints/handlers/get.ts'
import { listHandler } from '../endpoints/handlers/list.ts'
import { patchHandler } from '../endpoints/handlers/patch.ts'
import { updateHandler } from '../endpoints/handlers/update.ts'
import type { ApiRequest, ApiResponse } from '../endpoints/request.ts'
import { pageNotFound } from '../endpoints/respond.ts'
import { runHandler } from '../endpoints/run.ts'
import { statusVerbs, storedVerbs } from '../registry/kind.ts'
import type { Store } from '../registry/store.ts'
import { driver } from '../storage/dynamodb/driver.ts'
import { storageOver } from '../storage/protocol/storage.ts'
import { itemsOf } from '../storage/sqlite/sqlite.ts'
import { openTable } from '../storage/sqlite/table.ts'
import { Lamp, Note } from './kinds.ts'

const { now } = Date
const sleep = (ms: number): Promise<void> => delay(ms)
const { TABLE_NAME: table } = process.env
const items = table
  ? driver.open(table, { now, uuid: randomUUID, called: () => {} })
  : itemsOf(openTable(':memory:', now), now)
const storage = storageOver(items, { now, random: Math.random, sleep })

const stores = [Note, Lamp].map(
  (kind): Store => ({
    kind,
    strategy: kind.strategy(undefined as never),
    storage,
    uuid: randomUUID,
    randomInt: (bound) => randomInt(bound),
    mayDelete: async () => true,
    administers: () => 'everybody',
    guard: async (_store, _current, mutation) => mutation,
    authorOf: ({ user }) => ({ user: user.name }),
  }),
)

const services: EndpointServices = {
  checkChain: async () => {},
  keyGeneration: async () => 1,
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

const groupVersion = `${Note.group}/${Note.version}`
const resources = stores.flatMap(({ kind }) => {
  const main = { kind: kind.kind, namespaced: kind.scope === 'Namespaced' }
  const { plural: name, singular: singularName, shortNames = [] } = kind
  const status = { ...main, name: `${name}/status`, singularName: '', verbs: statusVerbs }
  return [{ ...main, name, singularName, shortNames, verbs: storedVerbs }, ...(kind.schema.status ? [status] : [])]
})
const version = { groupVersion, version: Note.version }
const documents: Readonly<Record<string, object>> = {
  '/api': { kind: 'APIVersions', versions: [] },
  '/apis': {
    kind: 'APIGroupList',
    apiVersion: 'v1',
    groups: [{ name: Note.group, versions: [version], preferredVersion: version }],
  },
  [`/apis/${groupVersion}`]: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources },
}

const json = { 'content-type': 'application/json' }
const route = /^\/apis\/([^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?(?:\/(status))?$/

const report = (error: unknown): void => void process.stderr.write(`${error}\n`)

async function answer(incoming: IncomingMessage): Promise<ApiResponse> {
  const { method = '', url = '', headers } = incoming
  const { pathname: path, searchParams } = new URL(url, 'http://localhost')
  const document = documents[path]
  if (document) return { status: 200, headers: json, warnings: [], body: JSON.stringify(document) }
  const [, served, namespace = '', plural, name = '', subresource = ''] = route.exec(path) ?? []
  const store = stores.find(({ kind }) => kind.plural === plural && served === groupVersion)
  const handler = handlers[method]?.[name ? 'one' : 'all']
  if (!store || !handler) return pageNotFound
  const query = new Map([...new Set(searchParams.keys())].map((key) => [key, searchParams.getAll(key)]))
  const common = { user: { name: 'somebody' }, requestId: randomUUID(), now: new Date(), deadline: () => 30_000 }
  const sent = { headers: headers as ApiRequest['headers'], body: await buffer(incoming) }
  const request: ApiRequest = { ...common, ...sent, method, path, namespace, name, subresource, query }
  const warnings: string[] = []
  const context = { ...common, warn: (text: string) => void warnings.push(text), note: () => {} }
  return runHandler(handler, { request, context, warnings, services, kind: store.kind, store }, report)
}

async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { status, headers, warnings, body } = await answer(incoming)
  for (const text of warnings) outgoing.appendHeader('warning', `299 - ${JSON.stringify(text)}`)
  outgoing.writeHead(status, headers)
  await pipeline(Readable.from(body instanceof Uint8Array ? [body] : body), outgoing)
}

const server = createServer((incoming, outgoing) => {
  // Whoever watches leaves in the middle of the answer.
  respond(incoming, outgoing).catch(() => outgoing.destroy())
})
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`kubectl --server=http://127.0.0.1:${port} get lamps\n`)
})
