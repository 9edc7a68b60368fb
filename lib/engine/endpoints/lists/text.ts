/**
 * Writes lists in the negotiated form as text in pieces. Decodes, presents and encodes one object at a time. The memory
 * of a list therefore depends on its largest object, not on the sum of all objects.
 */

import { stringify } from '../../meta/encoding/json.ts'
import { yamlWriter } from '../../meta/encoding/yaml.ts'
import { groupVersion } from '../../meta/groupversion.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import { includeObject, type Output, transformError } from '../negotiation/accept.ts'
import { partialMetadata, tableHead, tableRows } from '../negotiation/table.ts'
import { type ApiRequest, type ApiResponse, queryValue } from '../request.ts'
import { type ListMetadata, listMetadata, type Printed } from '../respond.ts'

/** The shape of a list: its other members, the value of an empty list, and the conversion of objects to elements. */
interface ListShape {
  head: JsonObject
  member: 'items' | 'rows'
  none: [] | null
  element(object: KubeObject): unknown
}

/** Returns the shape of a list. Like for custom resources, untransformed lists always have `continue`. Throws 400 and 406. */
function shapeOf(request: ApiRequest, kind: Printed, metadata: ListMetadata, { transform }: Output): ListShape {
  const fields = listMetadata(metadata)
  if (!transform) {
    const head = { kind: `${kind.kind}List`, apiVersion: groupVersion(kind), metadata: { continue: '', ...fields } }
    return { head, member: 'items', none: [], element: (object) => object }
  }
  const wrong = transformError(transform.as, true)
  if (wrong) throw wrong
  const { version } = transform
  if (transform.as === 'Table') {
    const include = includeObject(queryValue(request.query, 'includeObject'))
    const options = { version, include, now: request.now, withColumns: true }
    const columns = kind.columns ?? []
    return { head: tableHead(columns, fields, options), member: 'rows', none: [], element: tableRows(columns, options) }
  }
  return {
    head: { kind: 'PartialObjectMetadataList', apiVersion: `meta.k8s.io/${version}`, metadata: fields },
    member: 'items',
    // Go encodes a nil slice as null.
    none: null,
    element: (object) => partialMetadata(object, version),
  }
}

/** Writes values in one format. `empty` is the end of an empty list; `open`, elements and `close` replace it. */
interface Notation {
  whole(value: unknown): string
  element(value: unknown): string
  empty: string
  open: string
  between: string
  close: string
}

const compact: Notation = {
  whole: (value) => `${stringify(value)}\n`,
  element: (value) => stringify(value),
  empty: '[]}\n',
  open: '[',
  between: ',',
  close: ']}\n',
}

/** JSON escapes line breaks in strings, so every line break starts a line to indent. */
const indented: Notation = {
  whole: (value) => stringify(value, 2),
  element: (value) => stringify(value, 2).replaceAll('\n', '\n    '),
  empty: '[]\n}',
  open: '[\n    ',
  between: ',\n    ',
  close: '\n  ]\n}',
}

/** Writes each element in a separate document, between two fixed lines. There it is indented and ends as in a longer list. */
async function yaml(): Promise<Notation> {
  const write = await yamlWriter()
  const [before, after] = ['items:\n', 'end: 0\n']
  return {
    whole: (value) => write(value as JsonValue),
    element: (value) => write({ items: [value as JsonValue], end: 0 }).slice(before.length, -after.length),
    empty: ' []\n',
    open: '\n',
    between: '',
    close: '',
  }
}

async function notationOf({ mediaType, pretty }: Output): Promise<Notation> {
  if (mediaType === 'application/yaml') return yaml()
  return pretty ? indented : compact
}

/** A piece ends after the object that brings it to this many characters. */
const pieceLength = 128 * 1024

/** Pages of objects. Each page is read after the consumer has taken the previous ones. */
export type Pages = AsyncIterable<Iterable<KubeObject>> | Iterable<Iterable<KubeObject>>

async function* pieces({ head, member, none, element }: ListShape, notation: Notation, pages: Pages) {
  const { whole, empty, open, between, close } = notation
  const begin = whole({ ...head, [member]: [] }).slice(0, -empty.length) + open
  let text = ''
  let separator = begin
  for await (const page of pages) {
    for (const object of page) {
      text += separator + notation.element(element(object))
      separator = between
      if (text.length < pieceLength) continue
      yield text
      text = ''
    }
  }
  yield separator === begin ? whole({ ...head, [member]: none }) : text + close
}

/** The objects of a kind, the metadata of the list, and the negotiated form. */
interface Listing {
  request: ApiRequest
  kind: Printed
  metadata: ListMetadata
  output: Output
  pages: Pages
}

/** Returns the text of a list in pieces. Encodes each piece when the consumer asks for it. Throws 400 and 406. */
export async function listPieces({ request, kind, metadata, output, pages }: Listing): Promise<AsyncGenerator<string>> {
  const shape = shapeOf(request, kind, metadata, output)
  return pieces(shape, await notationOf(output), pages)
}

/**
 * Returns the response with a list: one text if the list is short, otherwise a stream of pieces. Encodes the first piece at
 * once, so that an error in it becomes a Status.
 */
export async function respondList(listing: Listing, warnings: readonly string[]): Promise<ApiResponse> {
  const rest = await listPieces(listing)
  const { value: begin = '' } = await rest.next()
  const headers = { 'content-type': listing.output.mediaType }
  return { status: 200, headers, warnings, body: begin.length < pieceLength ? begin : resume(begin, rest) }
}

async function* resume(begin: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  yield begin
  yield* rest
}
