/** Objects, lists and Statuses as response bodies. Source: k8s.io/apiserver endpoints/handlers/responsewriters. */

import { stringify } from '../meta/encoding/json.ts'
import { dumpYaml } from '../meta/encoding/yaml.ts'
import type { StatusError } from '../meta/errors/status.ts'
import type { JsonObject, KubeObject, Status } from '../meta/types.ts'
import { partialMetadata, table } from '../printers/table.ts'
import type { Column, KindInfo } from '../registry/kind.ts'
import { includeObject, type Output, unfit } from './negotiation/accept.ts'
import { type ApiRequest, type ApiResponse, first } from './request.ts'

/** What the printers need of a kind. */
export type Printed = KindInfo & { columns?: readonly Column[] }

/** JSON compact with a final newline, or indented by two; YAML where asked. */
export async function encode(value: unknown, { mediaType, pretty }: Output): Promise<string> {
  if (mediaType === 'application/yaml') return await dumpYaml(value as JsonObject)
  return pretty ? stringify(value, 2) : `${stringify(value)}\n`
}

/** Any value in the negotiated form. */
export async function respond(
  status: number,
  value: unknown,
  output: Output,
  warnings: readonly string[] = [],
): Promise<ApiResponse> {
  return { status, headers: { 'content-type': output.mediaType }, warnings, body: await encode(value, output) }
}

const jsonOutput = (pretty: boolean): Output => ({ mediaType: 'application/json', pretty })

/**
 * Clients send again by themselves what is answered with Retry-After. A 504 may have been done, and with generateName
 * would be done twice, unless it has a cause that says why it was not.
 */
const mayRepeat = ({ code, details }: Status): boolean => code !== 504 || details?.causes !== undefined

/** A Status is never transformed; without a negotiated form it is indented JSON. */
export async function respondStatus(
  status: Status & { code?: number },
  output: Output | undefined,
  warnings: readonly string[] = [],
): Promise<ApiResponse> {
  const form: Output = output ? { mediaType: output.mediaType, pretty: output.pretty } : jsonOutput(true)
  const response = await respond(status.code ?? 200, status, form, warnings)
  const wait = status.details?.retryAfterSeconds
  if (wait && mayRepeat(status)) response.headers['retry-after'] = String(wait)
  if (status.code === 403) response.headers['x-content-type-options'] = 'nosniff'
  return response
}

/** An error as its Status, for the metrics with whose failure it is. */
export async function respondError(
  { status, fault }: StatusError,
  output: Output | undefined,
  warnings: readonly string[] = [],
): Promise<ApiResponse> {
  return { ...(await respondStatus(status, output, warnings)), fault }
}

/** What kube-apiserver says of a path that nothing serves at all. */
export const pageNotFound: ApiResponse = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  warnings: [],
  body: '404 page not found\n',
}

/** One object in the negotiated form. */
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
  const wrong = unfit(transform.as, false)
  if (wrong) throw wrong
  if (transform.as === 'PartialObjectMetadata') {
    return respond(status, partialMetadata(object, transform.version), output, warnings)
  }
  const rows = table(kind.columns ?? [], object, listMetadata({ resourceVersion: object.metadata.resourceVersion }), {
    version: transform.version,
    include: includeObject(first(request.query, 'includeObject')),
    now: request.now,
    withColumns: true,
  })
  return respond(status, rows, output, warnings)
}

/** Metadata of a list, or of a Table. */
export interface ListMetadata {
  resourceVersion?: string | undefined
  continue?: string | undefined
  remainingItemCount?: number | undefined
}

export function listMetadata({ resourceVersion, continue: token, remainingItemCount }: ListMetadata): JsonObject {
  return {
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(token && { continue: token }),
    ...(remainingItemCount !== undefined && { remainingItemCount }),
  }
}
