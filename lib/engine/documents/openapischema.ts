/** Converts the project's schemas to OpenAPI 3.0 schemas with Kubernetes' extensions. */

import type { Schema } from '../meta/schema/schema.ts'
import type { JsonObject, JsonValue } from '../meta/types.ts'
import { defined } from '../meta/value/defined.ts'

const omitUndefined = (members: Readonly<Record<string, unknown>>) => defined(members) as JsonObject

/** Returns the keywords of all types. The description of a deprecated field also names its replacement. */
const common = ({ description, deprecated, writeOnly, readOnly }: Schema): JsonObject =>
  omitUndefined({
    description: deprecated === undefined ? description : `${description} Deprecated: use ${deprecated}.`,
    deprecated: deprecated === undefined ? undefined : true,
    writeOnly: writeOnly === undefined ? undefined : true,
    readOnly,
  })

function shape(schema: Schema): JsonObject {
  switch (schema.type) {
    case 'string': {
      const { format, minLength, maxLength, pattern } = schema
      return omitUndefined({ type: 'string', format, enum: schema.enum, minLength, maxLength, pattern })
    }
    case 'integer': {
      const { format, minimum, maximum } = schema
      return omitUndefined({ type: 'integer', format, minimum, maximum })
    }
    case 'boolean':
      return { type: 'boolean' }
    case 'list': {
      const { items, maxItems, listType, keys } = schema
      const extensions = { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys }
      return omitUndefined({ type: 'array', items: openApiSchema(items), maxItems, ...extensions })
    }
    case 'map':
      return omitUndefined({ type: 'object', additionalProperties: openApiSchema(schema.values), ...mapType(schema) })
    case 'object': {
      const { properties, required } = schema
      const members = Object.entries(properties).map(([name, one]): [string, JsonValue] => [name, openApiSchema(one)])
      return omitUndefined({
        type: 'object',
        properties: members.length > 0 ? Object.fromEntries(members) : undefined,
        required: required && required.length > 0 ? required : undefined,
        ...mapType(schema),
      })
    }
  }
}

const mapType = ({ atomic }: { atomic?: true }): JsonObject => (atomic ? { 'x-kubernetes-map-type': 'atomic' } : {})

/** Returns an OpenAPI schema without references. */
export const openApiSchema = (schema: Schema): JsonObject => ({ ...common(schema), ...shape(schema) })
