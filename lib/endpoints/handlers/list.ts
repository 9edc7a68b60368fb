/**
 * GET of a collection. A limited list is one page; an unlimited one is read page by page at one revision and sent as
 * it comes, since a server may not invent `continue`. What fails after the first byte, or goes on after the end of its
 * key, cuts the connection: never a valid short list.
 */
import { type StoredExchange, set } from '../exchange.ts'
import { demandKey, keyCheck, whileKeyHolds } from '../keycheck.ts'
import { type Following, metadataOf, pagesFrom, readPage, shownPages, startOf } from '../lists/page.ts'
import { selectionOf } from '../lists/selection.ts'
import { respondList } from '../lists/text.ts'

/** Objects read at once for an unlimited list: some 1–2 MB, one or two queries. */
const pageSize = 500

/** Answers with a page, or with everything. */
export async function listObjects(exchange: StoredExchange): Promise<void> {
  const { kind, request, warnings } = exchange
  const options = set(exchange.listOptions, 'listOptions')
  const output = set(exchange.output, 'output')
  const selection = selectionOf(kind, options)
  const start = startOf(exchange, options, selection)
  const isLimited = options.limit > 0
  const check = await keyCheck(exchange)
  const first = await readPage(exchange, selection, start, options.limit || pageSize, 'list')
  const metadata = metadataOf(first, selection, { namespace: request.namespace, isLimited })
  const following = (place: Following) => readPage(exchange, selection, place, pageSize, 'list')
  const pages = shownPages(exchange, isLimited ? [first] : pagesFrom(first, following))
  const response = await respondList({ request, kind, metadata, output, pages }, warnings)
  await demandKey(check)
  const { body } = response
  exchange.response =
    typeof body === 'string' || body instanceof Uint8Array
      ? response
      : { ...response, ...whileKeyHolds(exchange, check, body) }
}
