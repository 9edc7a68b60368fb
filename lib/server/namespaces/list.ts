/**
 * GET of the namespaces: a list or a watch of those that hold objects which the user may see. A namespace exists for every
 * valid name, so a selector of the name answers as a GET of it does. Revisions are those of the virtual cluster instances.
 */

import { Namespace, namespaceObject } from '../../clusters/namespace.ts'
import { VirtualClusterInstance } from '../../clusters/virtualclusterinstance.ts'
import type { Call } from '../../engine/endpoints/call.ts'
import { ensureCredentialHolds, startCredentialCheck } from '../../engine/endpoints/credentialcheck.ts'
import { answerWatch, type WatchView } from '../../engine/endpoints/handlers/watch.ts'
import { encodeContinue } from '../../engine/endpoints/lists/continuetoken.ts'
import { beginList, type ListOptions } from '../../engine/endpoints/lists/listoptions.ts'
import { startOf, withNewToken } from '../../engine/endpoints/lists/page.ts'
import { type Selection, selectionOf } from '../../engine/endpoints/lists/selection.ts'
import { respondList } from '../../engine/endpoints/lists/text.ts'
import type { Output } from '../../engine/endpoints/negotiation/accept.ts'
import { type ApiResponse, emptyStream } from '../../engine/endpoints/request.ts'
import { eventsOf } from '../../engine/endpoints/watches/watchevents.ts'
import { dnsLabelErrors } from '../../engine/meta/object/names.ts'
import type { KubeObject } from '../../engine/meta/types.ts'
import { byBytes } from '../../engine/meta/value/byteorder.ts'
import { visibilityFilter } from '../../engine/registry/read.ts'
import { computedHandler } from '../handler.ts'
import type { LambdaHandler } from '../lambda/runtime.ts'
import type { Server } from '../server.ts'
import {
  addInstance,
  type InstancesByNamespace,
  readNamespaces,
  removeInstance,
  type Source,
  sourceOf,
} from './instancenamespaces.ts'

const kind = { ...Namespace, selectableFields: ['status.phase'] } as const

/** The selected namespaces of a request. */
interface Asked {
  source: Source
  options: ListOptions
  selection: Selection
  objectOf(name: string): KubeObject
}

/**
 * Returns the selected namespaces: those that hold objects, in the order of their names, as the store lists their objects, or the
 * one that the selector names.
 */
function selected({ selection, objectOf }: Asked, byNamespace: InstancesByNamespace): KubeObject[] {
  const names = selection.name === undefined ? [...byNamespace.keys()] : [selection.name]
  return names
    .filter((name) => dnsLabelErrors(name).length === 0)
    .map(objectOf)
    .filter((object) => selection.matches({ key: '', rv: 1, object, internal: {} }))
}

async function answerList(asked: Asked, output: Output): Promise<ApiResponse> {
  const { source, options, selection } = asked
  const { request, services, warnings } = source.call
  const { after = '', ...start } = startOf({ kind, request }, options, selection)
  const check = await startCredentialCheck(source.context, services)
  const reading = { verb: 'list', start, name: selection.name } as const
  const { byNamespace, rv } = await readNamespaces(source, reading).catch((error: unknown) => {
    throw withNewToken(error, after ? { after } : {}, '')
  })
  const rest = selected(asked, byNamespace).filter(({ metadata: { name = '' } }) => byBytes(name, after) > 0)
  const page = options.limit > 0 ? rest.slice(0, options.limit) : rest
  const last = page.length < rest.length ? page.at(-1)?.metadata.name : undefined
  const metadata = {
    resourceVersion: String(rv),
    continue: last && encodeContinue({ rv, after: last }),
    remainingItemCount: last && selection.all ? rest.length - page.length : undefined,
  }
  const response = await respondList({ request, kind, metadata, output, pages: [page] }, warnings)
  await ensureCredentialHolds(check)
  return request.method === 'HEAD' ? { ...response, body: emptyStream } : response
}

/** Shows a namespace from its first object until its last one is gone, and a namespace that the selector names always. */
function viewOf(asked: Asked): WatchView {
  const { source, selection } = asked
  const { call, context, mayList } = source
  const { store } = call
  const eventsIn = eventsOf({
    selects: ({ object }) => mayList(object.metadata.namespace ?? ''),
    may: visibilityFilter(store, 'watch', context),
    latest: (stored) => store.storage.latest(store.kind.table, stored),
    shown: async ({ object }) => object,
  })
  let byNamespace: InstancesByNamespace = new Map()
  return {
    async begin({ revision, isInitial }) {
      const from = isInitial ? 'notOlderThan' : 'at'
      const start = revision ? { [from]: revision } : {}
      const read = await readNamespaces(source, { verb: 'watch', start, name: selection.name })
      byNamespace = read.byNamespace
      return { initial: isInitial ? [selected(asked, byNamespace)] : [], rv: read.rv }
    },
    async *events(batch) {
      if (selection.name !== undefined) return
      for await (const { type, object } of eventsIn(batch)) {
        const { namespace = '', name = '', resourceVersion = '' } = object.metadata
        const held = byNamespace.has(namespace)
        if (type === 'DELETED') removeInstance(byNamespace, namespace, name)
        else addInstance(byNamespace, namespace, name)
        if (byNamespace.has(namespace) === held) continue
        // Clients resume a watch from the revision of its last event.
        for (const one of selected(asked, new Map([[namespace, new Set()]]))) {
          const shown = { ...one, metadata: { ...one.metadata, resourceVersion } }
          yield { type: held ? 'DELETED' : 'ADDED', object: shown }
        }
      }
    },
  }
}

async function answer(call: Call, server: Server): Promise<ApiResponse> {
  const { options, output } = beginList(call)
  const source = sourceOf(call, server, options.watch ? 'watch' : 'list')
  const selection = selectionOf(kind, options)
  const objectOf = (name: string) => namespaceObject(name, server.config.issuer)
  const asked = { source, options, selection, objectOf }
  if (!options.watch) return answerList(asked, output)
  return answerWatch({ ...source.call, kind }, source.context, options, output, viewOf(asked))
}

/** Returns the Lambda handler that lists and watches namespaces. */
export const listHandler = (): Promise<LambdaHandler> => computedHandler('list', answer, VirtualClusterInstance.table)
