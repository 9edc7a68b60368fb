/**
 * GET of a collection: a list, or a watch. Source: k8s.io/apiserver endpoints/handlers/get.go (ListResource).
 *
 * A limited list is one page. An unlimited list is read page by page at one revision and streamed, because a server must not
 * send `continue` unasked. An error after the first byte cuts the connection, so that no client takes a short list for a
 * complete one. So does a credential that changes while the list is sent.
 *
 * HEAD is answered with the status and the headers. It reads one page of one object, or of `limit` objects, and never watches.
 */
import type { RequestContext } from '../../registry/kind.ts'
import type { Handler, StoredCall } from '../call.ts'
import { ensureCredentialHolds, startCredentialCheck, whileCredentialHolds } from '../credentialcheck.ts'
import { beginList, type ListOptions } from '../lists/listoptions.ts'
import { openCollection, presentPages, startOf } from '../lists/page.ts'
import { type Selection, selectionOf } from '../lists/selection.ts'
import { respondList } from '../lists/text.ts'
import type { Output } from '../negotiation/accept.ts'
import { type ApiResponse, emptyStream } from '../request.ts'
import { answerWatch, storedView } from './watch.ts'

/** Objects per page of an unlimited list: 1 to 2 MB, one or two queries. */
const pageSize = 500

async function handle(call: StoredCall): Promise<ApiResponse> {
  const { options, output } = beginList(call)
  const context = { ...call.context, dryRun: false }
  const selection = selectionOf(call.kind, options, { strategy: call.store.strategy, user: context.user })
  if (!options.watch) return answerList(call, context, { options, selection, output })
  return answerWatch(call, context, options, output, storedView(call, context, selection))
}

async function answerList(
  call: StoredCall,
  context: RequestContext,
  { options, selection, output }: { options: ListOptions; selection: Selection; output: Output },
): Promise<ApiResponse> {
  const { kind, request, store, services, warnings } = call
  const { limit } = options
  const start = startOf(call, options, selection)
  const check = await startCredentialCheck(context, services)
  const size = request.method === 'HEAD' ? 1 : pageSize
  const collection = await openCollection(call, context, { verb: 'list', selection, start, limit, pageSize: size })
  const pages = presentPages(store, collection.pages, context)
  const response = await respondList({ request, kind, metadata: collection.metadata, output, pages }, warnings)
  await ensureCredentialHolds(check)
  const { body } = response
  if (request.method === 'HEAD') return { ...response, body: emptyStream }
  if (typeof body === 'string' || body instanceof Uint8Array) return response
  return { ...response, ...whileCredentialHolds(services, check, body) }
}

export const listHandler: Handler<StoredCall> = { verb: 'list', handle }
