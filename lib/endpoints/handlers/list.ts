/**
 * GET of a collection. A limited list is one page; an unlimited one is read page by page at one revision and sent as
 * it comes, since a server may not invent `continue`. What fails after the first byte cuts the connection: never a
 * valid short list.
 */

import { badRequest, expired } from '../../meta/errors.ts'
import { stringify } from '../../meta/json.ts'
import type { KubeObject } from '../../meta/types.ts'
import { toStatusError } from '../../registry/errors.ts'
import { groupVersion } from '../../registry/kind.ts'
import { list } from '../../registry/read.ts'
import { StorageError } from '../../storage/errors.ts'
import type { ListPage, ListRequest, Stored } from '../../storage/interface.ts'
import { decodeContinue, encodeContinue } from '../continuetoken.ts'
import { type StoredExchange, set } from '../exchange.ts'
import type { ListOptions } from '../options.ts'
import { listBody, respond } from '../respond.ts'
import { revisionOf, type Selection, selectionOf } from '../selection.ts'

/** Objects read at once for an unlimited list: some 1–2 MB, one or two queries. */
const pageSize = 500

const expiredContinue =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'

type Start = Pick<ListRequest, 'at' | 'after' | 'notOlderThan'>

/** Keys in tokens are relative to the collection that was asked. */
const absolute = (namespace: string, key: string): string => (namespace ? `${namespace}/${key}` : key)
const relative = (namespace: string, key: string): string => (namespace ? key.slice(namespace.length + 1) : key)

function startOf(options: ListOptions, namespace: string): Start {
  const revision = revisionOf(options.resourceVersion)
  if (options.continue) {
    if (revision) throw badRequest('specifying resource version is not allowed when using continue')
    const { rv, after } = decodeContinue(options.continue)
    return { after: absolute(namespace, after), ...(rv > 0 && { at: rv }) }
  }
  if (!revision) return {}
  return options.resourceVersionMatch === 'Exact' ? { at: revision } : { notOlderThan: revision }
}

/** 410 of a continue token comes with another one, which goes on at the newest revision. */
function translate(error: unknown, start: Start, namespace: string): unknown {
  if (!(error instanceof StorageError)) return error
  if (error.code === 'Expired' && start.after !== undefined) {
    return expired(expiredContinue, encodeContinue({ rv: -1, after: relative(namespace, start.after) }))
  }
  return toStatusError(error)
}

async function page(
  { store, context, request }: StoredExchange,
  selection: Selection,
  start: Start,
  limit: number,
): Promise<ListPage> {
  const { namespace } = request
  try {
    return await list(
      store,
      { ...start, limit, ...(namespace && { namespace }), ...(!selection.all && { matches: selection.matches }) },
      'list',
      context,
    )
  } catch (error) {
    throw translate(error, start, namespace)
  }
}

const presented = ({ store, context }: StoredExchange, items: readonly Stored[]): KubeObject[] =>
  items.map((stored) => store.strategy.present?.(stored, context.now) ?? stored.object)

/** Answers with a page, or with everything. */
export async function listObjects(exchange: StoredExchange): Promise<void> {
  const { kind, request } = exchange
  const options = set(exchange.listOptions, 'listOptions')
  const output = set(exchange.output, 'output')
  const selection = selectionOf(kind, options)
  const start = startOf(options, request.namespace)
  const first = await page(exchange, selection, start, options.limit || pageSize)
  const resourceVersion = String(first.rv)
  if (options.limit > 0 || first.next === undefined) {
    const token = first.next && encodeContinue({ rv: first.rv, after: relative(request.namespace, first.next) })
    const remaining = selection.all && token ? first.remaining : undefined
    const metadata = { resourceVersion, continue: token, remainingItemCount: remaining }
    exchange.response = await respond(
      200,
      listBody(request, kind, presented(exchange, first.items), metadata, output),
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
  const items = presented(exchange, first.items)
  for await (const more of rest) items.push(...presented(exchange, more.items))
  exchange.response = await respond(200, listBody(request, kind, items, { resourceVersion }, output), output)
}

/** The pages after the first, all at its revision. */
async function* following(exchange: StoredExchange, selection: Selection, first: ListPage): AsyncGenerator<ListPage> {
  for (let { next } = first; next !== undefined; ) {
    const more = await page(exchange, selection, { after: next, at: first.rv }, pageSize)
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
    presented(exchange, items)
      .map((one) => stringify(one))
      .join(',')
  yield `${stringify(head).slice(0, -1)},"items":[${text(first.items)}`
  for await (const { items } of rest) if (items.length > 0) yield `,${text(items)}`
  yield ']}\n'
}
