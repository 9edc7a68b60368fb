/** Encodes objects, lists and Statuses as response bodies. Source: k8s.io/apiserver endpoints/handlers/responsewriters. */

import { stringify } from '../meta/encoding/json.ts'
import { dumpYaml } from '../meta/encoding/yaml.ts'
import type { StatusError } from '../meta/errors/status.ts'
import type { JsonObject, KubeObject, Status } from '../meta/types.ts'
import { defined } from '../meta/value/defined.ts'
import type { Column, KindInfo } from '../registry/kind.ts'
import { includeObject, type Output, transformError } from './negotiation/accept.ts'
import { partialMetadata, tableHead, tableRows } from './negotiation/table.ts'
import { type ApiRequest, type ApiResponse, queryValue } from './request.ts'

/** The part of a kind that the printers use. */
export type Printed = KindInfo & { columns?: readonly Column[] }

/** Encodes a value as YAML, as JSON indented by two spaces, or as compact JSON with a final newline. */
export async function encodeBody(value: unknown, { mediaType, pretty }: Output): Promise<string> {
  if (mediaType === 'application/yaml') return await dumpYaml(value as JsonObject)
  return pretty ? stringify(value, 2) : `${stringify(value)}\n`
}

/** Returns the response with a value in the negotiated form. */
export async function respond(
  status: number,
  value: unknown,
  output: Output,
  warnings: readonly string[] = [],
): Promise<ApiResponse> {
  return { status, headers: { 'content-type': output.mediaType }, warnings, body: await encodeBody(value, output) }
}

/** Returns a response with a credential or a verdict about one, which nothing on its way may store. */
export const uncached = (response: ApiResponse): ApiResponse => ({
  ...response,
  headers: { ...response.headers, 'cache-control': 'no-store' },
})

/**
 * Reports whether a client may safely repeat the request, as it does after a Retry-After. The write behind a 504 may have
 * succeeded, so with generateName a retry would create a second object. A 504 with a cause states that nothing was written.
 */
const mayRepeat = ({ code, details }: Status): boolean => code !== 504 || details?.causes !== undefined

/**
 * Returns the response with the Status of an error. It is never transformed; without a negotiated form it is indented JSON. For
 * credential plugins the message is a warning too: what runs them shows what they print of headers, and not the body.
 */
export async function respondError(
  { status, fault }: StatusError,
  output: Output | undefined,
  warnings: readonly string[] = [],
): Promise<ApiResponse> {
  const { mediaType, pretty }: Output = output ?? { mediaType: 'application/json', pretty: true }
  const told = output?.execCredential && status.message ? [...warnings, status.message] : warnings
  const response = await respond(status.code, status, { mediaType, pretty }, told)
  const wait = status.details?.retryAfterSeconds
  if (wait && mayRepeat(status)) response.headers['retry-after'] = String(wait)
  return { ...(status.code === 401 ? uncached(response) : response), fault }
}

/** kube-apiserver's response for an unknown path. */
export const pageNotFound: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  warnings: [],
  body: '404 page not found\n',
}

/** Returns the response with one object in the negotiated form. Throws 406 for a transform of lists. */
export async function respondObject(
  request: ApiRequest,
  kind: Printed,
  object: KubeObject,
  output: Output,
  status: number,
  warnings: readonly string[],
): Promise<ApiResponse> {
  const { transform } = output
  if (!transform) return respond(status, object, output, warnings)
  const wrong = transformError(transform.as, false)
  if (wrong) throw wrong
  const shown = transformed(request, kind, object, transform, { now: request.now, withColumns: true })
  return respond(status, shown, output, warnings)
}

/** Returns one object in the form that a transform asks for. Throws 400 for an invalid `includeObject`. */
export function transformed(
  { query }: Pick<ApiRequest, 'query'>,
  { columns = [] }: Pick<Printed, 'columns'>,
  object: KubeObject,
  { as, version }: NonNullable<Output['transform']>,
  shown: { now: Date; withColumns: boolean },
): JsonObject {
  if (as !== 'Table') return partialMetadata(object, version)
  const include = includeObject(queryValue(query, 'includeObject'))
  const { resourceVersion } = object.metadata
  const options = { version, include, ...shown }
  const head = tableHead(columns, listMetadata({ resourceVersion }), options)
  return { ...head, rows: [tableRows(columns, options)(object)] }
}

/** The metadata of a list or a Table. */
export interface ListMetadata {
  resourceVersion?: string | undefined
  continue?: string | undefined
  remainingItemCount?: number | undefined
}

export const listMetadata = ({ resourceVersion, continue: token, remainingItemCount }: ListMetadata): JsonObject =>
  defined({ resourceVersion, continue: token || undefined, remainingItemCount })
