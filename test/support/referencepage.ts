/** Writes the reference page of a kind in Markdown from its schema. */
import { EXEC_CREDENTIAL_PARAMETERS, type OpenApiKind } from '../../lib/engine/documents/paths.ts'
import type { Schema } from '../../lib/engine/meta/schema/schema.ts'
import { child } from '../../lib/engine/meta/value/walk.ts'

function typeName(schema: Schema): string {
  switch (schema.type) {
    case 'list':
      return `list of ${typeName(schema.items)}`
    case 'map':
      return `map of ${typeName(schema.values)}`
    case 'string':
      return schema.format ?? 'string'
    case 'integer':
      return schema.format
    default:
      return schema.type
  }
}

/** The properties of one field, shortest first. */
function notes(schema: Schema, required: boolean): string[] {
  return [
    ...(required ? ['Required.'] : []),
    ...(schema.readOnly ? ['Computed.'] : []),
    ...(schema.writeOnly === 'never' ? ['Write-only: never returned.'] : []),
    ...(schema.writeOnly === 'once' ? ['Write-only: returned once, by the answer that creates the object.'] : []),
    ...(schema.deprecated === undefined ? [] : [`Deprecated: use ${schema.deprecated}.`]),
    ...limits(schema),
  ]
}

function limits(schema: Schema): string[] {
  if (schema.type === 'string') {
    const { minLength, maxLength, pattern } = schema
    return [
      ...(schema.enum ? [`One of ${schema.enum.map((one) => `\`"${one}"\``).join(', ')}.`] : []),
      ...(minLength === undefined ? [] : [`At least ${minLength} characters.`]),
      ...(maxLength === undefined ? [] : [`At most ${maxLength} characters.`]),
      ...(pattern === undefined ? [] : [`Matches \`${pattern}\`.`]),
    ]
  }
  if (schema.type === 'integer') {
    const { minimum, maximum } = schema
    return [
      ...(minimum === undefined ? [] : [`At least ${minimum}.`]),
      ...(maximum === undefined ? [] : [`At most ${maximum}.`]),
    ]
  }
  if (schema.type !== 'list') return []
  const { listType, keys = [], maxItems } = schema
  return [
    ...(maxItems === undefined ? [] : [`At most ${maxItems} items.`]),
    ...(listType === 'set' ? ['No item twice.'] : []),
    ...(listType === 'map' ? [`Items differ in ${keys.join(', ')}.`] : []),
  ]
}

/** Escapes a text for a cell of a table. */
const cell = (text: string): string => text.replace(/[|*]/g, '\\$&').replaceAll('\n', ' ')

function rows(schema: Schema, path: string): string[] {
  if (schema.type === 'list') return rows(schema.items, `${path}[]`)
  if (schema.type === 'map') return rows(schema.values, `${path}.*`)
  if (schema.type !== 'object') return []
  return Object.entries(schema.properties).flatMap(([name, one]) => {
    const at = child(path, name)
    const required = schema.required?.includes(name) ?? false
    const words = [one.description, ...notes(one, required)].join(' ')
    return [`| \`${at}\` | ${cell(typeName(one))} | ${cell(words)} |`, ...rows(one, at)]
  })
}

/** Returns the page, with a line for each field of spec and status in the order of the schema. Ends with a newline. The pages are stored beside the kinds. */
export function referencePage(kind: OpenApiKind): string {
  const parts = Object.entries({ spec: kind.schema.spec, status: kind.schema.status })
  const sections = parts.flatMap(([name, schema]) => {
    if (!schema) return []
    const table = rows(schema, name)
    const head = ['', '| Field | Type | Description |', '|---|---|---|']
    return ['', `## ${name}`, '', schema.description, ...(table.length > 0 ? [...head, ...table] : [])]
  })
  const { group, version, plural, scope, verbs } = kind
  const facts = [
    `- apiVersion: \`${group}/${version}\``,
    `- resource: \`${plural}${kind.subresource === undefined ? '' : `/${kind.subresource}`}\`, ${scope === 'Cluster' ? 'cluster-scoped' : 'namespaced'}`,
    `- verbs: ${verbs.join(', ')}`,
    ...(kind.credential === undefined
      ? []
      : [`- other form: \`Accept: application/json;${EXEC_CREDENTIAL_PARAMETERS}\``]),
  ]
  return [`# ${kind.kind}`, '', kind.description, '', ...facts, ...sections, ''].join('\n')
}
