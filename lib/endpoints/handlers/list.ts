/**
 * GET of a collection. A limited list is one page; an unlimited one is read page by page at one revision and sent as
 * it comes, since a server may not invent `continue`. What fails after the first byte cuts the connection: never a
 * valid short list.
 */

import { groupVersion } from '../../meta/groupversion.ts'
import { stringify } from '../../meta/json.ts'
import type { KubeObject } from '../../meta/types.ts'
import { presented } from '../../registry/store.ts'
import type { ListPage, Stored } from '../../storage/interface.ts'
import { type StoredExchange, set } from '../exchange.ts'
import { nextToken, readPage, startOf } from '../page.ts'
import { listBody, respond } from '../respond.ts'
import { type Selection, selectionOf } from '../selection.ts'

/** Objects read at once for an unlimited list: some 1–2 MB, one or two queries. */
const pageSize = 500

const shown = ({ store, context }: StoredExchange, items: readonly Stored[]): KubeObject[] =>
  items.map((stored) => presented(store, stored, context.now))

/** Answers with a page, or with everything. */
export async function listObjects(exchange: StoredExchange): Promise<void> {
  const { kind, request } = exchange
  const options = set(exchange.listOptions, 'listOptions')
  const output = set(exchange.output, 'output')
  const selection = selectionOf(kind, options)
  const start = startOf(exchange, options, selection)
  const first = await readPage(exchange, selection, start, options.limit || pageSize, 'list')
  const resourceVersion = String(first.rv)
  if (options.limit > 0 || first.next === undefined) {
    const token = nextToken(first, request.namespace)
    const remaining = selection.all && token ? first.remaining : undefined
    const metadata = { resourceVersion, continue: token, remainingItemCount: remaining }
    exchange.response = await respond(
      200,
      listBody(request, kind, shown(exchange, first.items), metadata, output),
      output,
    )
    return
  }
  const rest = following(exchange, selection, first)
  const plain = output.mediaType === 'application/json' && !output.transform && !output.pretty
  if (plain) {
    exchange.response = {
      status: 200,
      headers: { 'content-type': output.mediaType },
      warnings: exchange.warnings,
      body: streamed(exchange, first, rest),
    }
    return
  }
  const items = shown(exchange, first.items)
  for await (const more of rest) items.push(...shown(exchange, more.items))
  exchange.response = await respond(200, listBody(request, kind, items, { resourceVersion }, output), output)
}

/** The pages after the first, all at its revision. */
async function* following(exchange: StoredExchange, selection: Selection, first: ListPage): AsyncGenerator<ListPage> {
  for (let { next } = first; next !== undefined; ) {
    const more = await readPage(exchange, selection, { after: next, at: first.rv }, pageSize, 'list')
    yield more
    next = more.next
  }
}

async function* streamed(
  exchange: StoredExchange,
  first: ListPage,
  rest: AsyncIterable<ListPage>,
): AsyncGenerator<string> {
  const { kind } = exchange
  const head = {
    kind: `${kind.kind}List`,
    apiVersion: groupVersion(kind),
    metadata: { continue: '', resourceVersion: String(first.rv) },
  }
  const text = (items: readonly Stored[]): string =>
    shown(exchange, items)
      .map((one) => stringify(one))
      .join(',')
  yield `${stringify(head).slice(0, -1)},"items":[${text(first.items)}`
  for await (const { items } of rest) if (items.length > 0) yield `,${text(items)}`
  yield ']}\n'
}
