/**
 * Translates the OpenAPI documents from v3 to v2. Terraform's Kubernetes provider reads the types of manifests from v2, and
 * Argo CD the schemas for server-side apply. Source: k8s.io/kube-openapi/pkg/handler; swagger.io "OpenAPI 2.0".
 */
import { stringify } from '../meta/encoding/json.ts'
import { CREDENTIAL } from '../meta/program.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { contentHash } from './contenthash.ts'
import { type OpenApiInfo, openApiSchemas } from './openapi.ts'
import { type OpenApiKind, pathsOf } from './paths.ts'
import { openApiV2Protobuf } from './v2protobuf.ts'

/** The keywords of v3 schemas that need translation. All others are the same in v2. */
interface V2Schema {
  $ref?: string
  allOf?: V2Schema[]
  properties?: Record<string, V2Schema>
  items?: V2Schema
  additionalProperties?: V2Schema
  [keyword: string]: unknown
}

/** Drops the keywords that v2 lacks. A description goes next to its reference. */
function toV2({
  writeOnly: _,
  deprecated: __,
  $ref,
  allOf,
  properties,
  items,
  additionalProperties,
  ...rest
}: V2Schema): V2Schema {
  return {
    ...rest,
    ...Object.assign({}, ...(allOf ?? []).map(toV2)),
    ...($ref !== undefined && { $ref: $ref.replace('#/components/schemas/', '#/definitions/') }),
    ...(properties && { properties: each(properties) }),
    ...(items && { items: toV2(items) }),
    ...(additionalProperties && { additionalProperties: toV2(additionalProperties) }),
  }
}

const each = (schemas: Readonly<Record<string, V2Schema>>): Record<string, V2Schema> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, toV2(schema)]))

interface Content {
  content?: Record<string, { schema?: V2Schema }>
}

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: V2Schema
}

interface Operation {
  parameters: Parameter[]
  requestBody?: Content & { required?: boolean }
  responses: Record<string, Content & { description: string }>
  [keyword: string]: unknown
}

/** Moves the schema of a parameter next to its name. */
const parameterToV2 = ({ schema, ...parameter }: Parameter) => ({ ...parameter, ...schema })

const schemaOf = ({ content = {} }: Content): V2Schema | undefined => {
  const [first] = Object.values(content)
  if (!first) return undefined
  const { schema = {} } = first
  // A reference stands alone: generators refuse a type beside it.
  return toV2(schema.$ref === undefined ? { type: 'object', ...schema } : schema)
}

/** Turns the body into a parameter, and moves media types to the operation. */
function operationToV2({ parameters, requestBody, responses, ...rest }: Operation) {
  const schema = requestBody && schemaOf(requestBody)
  const body = schema && { name: 'body', in: 'body', required: requestBody.required === true, schema }
  return {
    ...rest,
    ...(requestBody && { consumes: Object.keys(requestBody.content ?? {}) }),
    produces: [...new Set(Object.values(responses).flatMap(({ content = {} }) => Object.keys(content)))],
    parameters: [...parameters.map(parameterToV2), ...(body ? [body] : [])],
    responses: Object.fromEntries(
      Object.entries(responses).map(([code, { description, ...answer }]) => {
        const schema = schemaOf(answer)
        return [code, { description, ...(schema && { schema }) }]
      }),
    ),
  }
}

/** Returns the paths of a kind in v2. */
function pathsToV2(kind: OpenApiKind): JsonObject {
  const paths = pathsOf(kind) as unknown as Record<string, Record<string, Operation> & { parameters?: Parameter[] }>
  const items = Object.entries(paths).map(([path, { parameters, ...operations }]) => [
    path,
    {
      ...(parameters && { parameters: parameters.map(parameterToV2) }),
      ...Object.fromEntries(Object.entries(operations).map(([method, one]) => [method, operationToV2(one)])),
    },
  ])
  return Object.fromEntries(items)
}

/** Returns the document as JSON and as protobuf, of which the bytes are characters, because built constants are JSON. */
export function openApiV2(kinds: readonly OpenApiKind[], info: OpenApiInfo) {
  const definitions = each(openApiSchemas(kinds) as Record<string, V2Schema>) as Record<string, JsonValue>
  const document: JsonObject = {
    swagger: '2.0',
    info: { ...info, license: { ...info.license } },
    paths: Object.assign({}, ...kinds.map(pathsToV2)),
    definitions,
    securityDefinitions: {
      BearerToken: {
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
        description: `\`Bearer\` followed by an ${CREDENTIAL}.`,
      },
    },
    security: [{ BearerToken: [] }],
  }
  const text = stringify(document)
  return { text, protobuf: Buffer.from(openApiV2Protobuf(document)).toString('latin1'), hash: contentHash(text) }
}
