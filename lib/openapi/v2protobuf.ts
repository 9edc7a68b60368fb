/**
 * Encodes OpenAPI v2 as protobuf, which kubectl and Argo CD request. Source: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto,
 * whose field numbers these are.
 */
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { any, double, encodeMessage, type Field, many, message, named, text, whole, within } from './protobufwriter.ts'

const texts = many(text)

const schema: Field = message(
  () => ({
    $ref: [1, text],
    format: [2, text],
    description: [4, text],
    maximum: [7, double],
    minimum: [9, double],
    maxLength: [11, whole],
    minLength: [12, whole],
    pattern: [13, text],
    maxItems: [14, whole],
    required: [19, texts],
    enum: [20, many(any)],
    additionalProperties: [21, within(1, schema)],
    type: [22, within(1, text)],
    items: [23, within(1, schema)],
    properties: [25, within(1, named(schema))],
    readOnly: [27, whole],
  }),
  31,
)

const bodyParameter = message(() => ({
  description: [1, text],
  name: [2, text],
  in: [3, text],
  required: [4, whole],
  schema: [5, schema],
}))

const queryParameter = message(() => ({
  required: [1, whole],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [6, text],
}))

const pathParameter = message(() => ({
  required: [1, whole],
  in: [2, text],
  description: [3, text],
  name: [4, text],
  type: [5, text],
}))

/** The union of a parameter depends on its location (`in`): each is nested in another union. */
const parameters: Readonly<Record<string, Field>> = {
  body: within(1, within(1, bodyParameter)),
  query: within(1, within(2, within(3, queryParameter))),
  path: within(1, within(2, within(4, pathParameter))),
}

const parameter: Field = (number, value) => {
  const field = parameters[String((value as JsonObject).in)]
  if (!field) throw new Error('a parameter is in body, query or path')
  return field(number, value)
}

const response = within(
  1,
  message(() => ({ description: [1, text], schema: [2, within(1, schema)] })),
)

const security = message(() => ({
  BearerToken: [1, (number, value) => named(stringArray)(number, { BearerToken: value })],
}))
const stringArray: Field = (number, value) => within(1, texts)(number, value)

const operation = message(
  () => ({
    tags: [1, texts],
    summary: [2, text],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, many(parameter)],
    responses: [9, within(1, named(response))],
  }),
  13,
)

const pathItem = message(() => ({
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  patch: [8, operation],
  parameters: [9, many(parameter)],
}))

const apiKey = message(() => ({ type: [1, text], name: [2, text], in: [3, text], description: [4, text] }))

const document = message(() => ({
  swagger: [1, text],
  info: [
    2,
    message(() => ({
      title: [1, text],
      version: [2, text],
      license: [6, message(() => ({ name: [1, text], url: [2, text] }))],
    })),
  ],
  paths: [8, within(2, named(pathItem))],
  definitions: [9, within(1, named(schema))],
  security: [12, many(security)],
  securityDefinitions: [13, within(1, named(within(2, apiKey)))],
}))

/** Encodes an OpenAPI v2 document. Throws for members that the message has no field for. */
export const openApiV2Protobuf = (value: JsonValue): Uint8Array => encodeMessage(document, value)
