/**
 * OpenAPI v2 of the kinds, as far as clients still ask for it: what objects are made of, no paths. Terraform's provider for
 * Kubernetes takes the types of manifests from here. Source: k8s.io/kube-openapi/pkg/handler; swagger.io "OpenAPI 2.0".
 */
import { stringify } from '../meta/json.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { contentHash } from './etag.ts'
import { type OpenApiInfo, openApiSchemas } from './openapi.ts'
import type { OpenApiKind } from './openapipaths.ts'

/** The keywords of v3 schemas that are translated; all others are those of v2. */
interface Schema {
  $ref?: string
  allOf?: Schema[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema
  [keyword: string]: unknown
}

/** v2 knows neither of these, and describes a reference beside it. */
function older({
  writeOnly: _,
  deprecated: __,
  $ref,
  allOf,
  properties,
  items,
  additionalProperties,
  ...rest
}: Schema): Schema {
  return {
    ...rest,
    ...Object.assign({}, ...(allOf ?? []).map(older)),
    ...($ref !== undefined && { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }),
    ...(properties && { properties: each(properties) }),
    ...(items && { items: older(items) }),
    ...(additionalProperties && { additionalProperties: older(additionalProperties) }),
  }
}

const each = (schemas: Readonly<Record<string, Schema>>): Record<string, Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, older(schema)]))

/** The document, and what it is known by. */
export function openApiV2(kinds: readonly OpenApiKind[], info: OpenApiInfo): { text: string; hash: string } {
  const definitions = each(openApiSchemas(kinds) as Record<string, Schema>) as Record<string, JsonValue>
  const document: JsonObject = {
    swagger: '2.0',
    info: { ...info, license: { ...info.license } },
    paths: {},
    definitions,
  }
  const text = stringify(document)
  return { text, hash: contentHash(text) }
}
