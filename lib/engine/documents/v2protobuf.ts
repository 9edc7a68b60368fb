/**
 * Encodes OpenAPI v2 as protobuf, which kubectl and Argo CD request. Source: github.com/google/gnostic-models openapiv2/OpenAPIv2.proto,
 * whose field numbers these are.
 */
import type { JsonObject, JsonValue } from '../meta/types.ts'
import {
  anyField,
  doubleField,
  encodeMessage,
  type Field,
  messageField,
  namedField,
  repeatedField,
  textField,
  varintField,
  wrapperField,
} from './protobufwriter.ts'

const texts = repeatedField(textField)

const schema: Field = messageField(
  () => ({
    $ref: [1, textField],
    format: [2, textField],
    description: [4, textField],
    maximum: [7, doubleField],
    minimum: [9, doubleField],
    maxLength: [11, varintField],
    minLength: [12, varintField],
    pattern: [13, textField],
    maxItems: [14, varintField],
    required: [19, texts],
    enum: [20, repeatedField(anyField)],
    additionalProperties: [21, wrapperField(1, schema)],
    type: [22, wrapperField(1, textField)],
    items: [23, wrapperField(1, schema)],
    properties: [25, wrapperField(1, namedField(schema))],
    readOnly: [27, varintField],
  }),
  31,
)

const bodyParameter = messageField(() => ({
  description: [1, textField],
  name: [2, textField],
  in: [3, textField],
  required: [4, varintField],
  schema: [5, schema],
}))

/** The parameters differ in the number of their type. */
const parameterWith = (type: number): Field =>
  messageField(() => ({
    required: [1, varintField],
    in: [2, textField],
    description: [3, textField],
    name: [4, textField],
    type: [type, textField],
  }))

/** The union of a parameter depends on its location (`in`): each is nested in another union. */
const parameters: Readonly<Record<string, Field>> = {
  body: wrapperField(1, wrapperField(1, bodyParameter)),
  query: wrapperField(1, wrapperField(2, wrapperField(3, parameterWith(6)))),
  path: wrapperField(1, wrapperField(2, wrapperField(4, parameterWith(5)))),
}

const parameter: Field = (number, value) => {
  const field = parameters[String((value as JsonObject).in)]
  if (!field) throw new Error('a parameter is in body, query or path')
  return field(number, value)
}

const response = wrapperField(
  1,
  messageField(() => ({ description: [1, textField], schema: [2, wrapperField(1, schema)] })),
)

const security = messageField(() => ({
  BearerToken: [1, (number, value) => namedField(stringArray)(number, { BearerToken: value })],
}))
const stringArray: Field = (number, value) => wrapperField(1, texts)(number, value)

const operation = messageField(
  () => ({
    tags: [1, texts],
    summary: [2, textField],
    description: [3, textField],
    operationId: [5, textField],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, repeatedField(parameter)],
    responses: [9, wrapperField(1, namedField(response))],
  }),
  13,
)

const pathItem = messageField(() => ({
  get: [2, operation],
  put: [3, operation],
  post: [4, operation],
  delete: [5, operation],
  patch: [8, operation],
  parameters: [9, repeatedField(parameter)],
}))

const apiKey = messageField(() => ({
  type: [1, textField],
  name: [2, textField],
  in: [3, textField],
  description: [4, textField],
}))

const document = messageField(() => ({
  swagger: [1, textField],
  info: [
    2,
    messageField(() => ({
      title: [1, textField],
      version: [2, textField],
      license: [6, messageField(() => ({ name: [1, textField], url: [2, textField] }))],
    })),
  ],
  paths: [8, wrapperField(2, namedField(pathItem))],
  definitions: [9, wrapperField(1, namedField(schema))],
  security: [12, repeatedField(security)],
  securityDefinitions: [13, wrapperField(1, namedField(wrapperField(2, apiKey)))],
}))

/** Encodes an OpenAPI v2 document. Throws for members that the message has no field for. */
export const openApiV2Protobuf = (value: JsonValue): Uint8Array => encodeMessage(document, value)
