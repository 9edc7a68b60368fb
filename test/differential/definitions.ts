/** Builds CustomResourceDefinitions, with which kube-apiserver serves the stored kinds as custom resources. */

import { openApiSchema } from '../../lib/engine/documents/openapischema.ts'
import type { ObjectSchema, Schema } from '../../lib/engine/meta/schema/schema.ts'
import type { JsonObject } from '../../lib/engine/meta/types.ts'
import type { StoredKind } from '../../lib/engine/registry/kind.ts'

/** Members that a custom resource cannot have, because they are write-only or computed. */
const isPlain = ({ writeOnly, readOnly }: Schema): boolean => writeOnly === undefined && readOnly === undefined

/** Returns the schema without members that a custom resource cannot have. */
export function plainSchema(schema: ObjectSchema): ObjectSchema {
  const members = Object.entries(schema.properties)
    .filter(([, member]) => isPlain(member))
    .map(([name, member]) => [name, member.type === 'object' ? plainSchema(member) : member] as const)
  return { ...schema, properties: Object.fromEntries(members) }
}

/** Returns what a kind without any rules needs to look like a kind of this API, as a custom resource does. */
export function likeness(kind: StoredKind): Pick<StoredKind, 'schema' | 'selectableFields'> {
  const { spec, status } = kind.schema
  return {
    schema: { spec: plainSchema(spec), ...(status && { status: plainSchema(status) }) },
    selectableFields: kind.selectableFields.filter((field) => isInside(field, kind)),
  }
}

/** OpenAPI keywords that structural schemas do not support. */
function structural(schema: JsonObject): JsonObject {
  const { deprecated: _, ...rest } = schema
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) =>
      value !== null && typeof value === 'object' && !Array.isArray(value) ? [name, structural(value)] : [name, value],
    ),
  )
}

/** Reports whether a custom resource has the field: none has those whose values are computed. */
function isInside(field: string, { schema }: StoredKind): boolean {
  const members = Object.fromEntries(
    Object.entries(schema).flatMap(([name, part]) => (part ? [[name, plainSchema(part)]] : [])),
  )
  let found: Schema | undefined = { type: 'object', description: '', properties: members }
  for (const name of field.split('.')) found = found?.type === 'object' ? found.properties[name] : undefined
  return found !== undefined
}

export function definitionOf(kind: StoredKind): JsonObject {
  const { group, version, plural, singular, shortNames = [], scope, schema, selectableFields } = kind
  const { spec, status } = schema
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope,
      names: { plural, singular, kind: kind.kind, listKind: `${kind.kind}List`, shortNames: [...shortNames] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: {
                spec: structural(openApiSchema(plainSchema(spec))),
                ...(status && { status: structural(openApiSchema(plainSchema(status))) }),
              },
            },
          },
          subresources: { status: {} },
          selectableFields: selectableFields
            .filter((field) => isInside(field, kind))
            .map((field) => ({ jsonPath: `.${field}` })),
        },
      ],
    },
  }
}
