/**
 * Objects as rows of a Table, what `kubectl get` shows. Source: k8s.io/apiextensions-apiserver tableconvertor,
 * k8s.io/apimachinery meta/v1 Table.
 */
import { humanDuration, parseTime } from '../meta/encoding/time.ts'
import type { JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { Column } from '../registry/kind.ts'

/** What of its object a row has: nothing, its metadata (as PartialObjectMetadata), or all of it. */
export type RowObject = 'None' | 'Metadata' | 'Object'

export interface TableOptions {
  version: 'v1' | 'v1beta1'
  include: RowObject
  now: Date
  /** False for the events of a watch after the first: the columns are known then. */
  withColumns: boolean
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Cannot be updated.',
  value: ({ metadata }) => metadata.name ?? '',
}

const ageColumn: Column = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created.',
  value: ({ metadata }) => metadata.creationTimestamp,
}

const withCommon = (columns: readonly Column[]): readonly Column[] => [nameColumn, ...columns, ageColumn]

/** Time since, or until where it lies ahead (expiry dates): `5m`. Null for no time, `<invalid>` for what is no time. */
function age(value: JsonValue | undefined, now: Date): string | null {
  if (value === undefined || value === null) return null
  const at = typeof value === 'string' ? parseTime(value) : undefined
  if (!at) return '<invalid>'
  const seconds = Math.trunc((now.getTime() - at.getTime()) / 1000)
  return humanDuration(seconds)
}

function cell(column: Column, object: KubeObject, now: Date): JsonValue {
  const value = column.value(object, now)
  if (column.type === 'date') return column === ageColumn && value === undefined ? '<unknown>' : age(value, now)
  return value ?? null
}

/** `kind` PartialObjectMetadata of one object. */
export function partialMetadata(object: KubeObject, version: 'v1' | 'v1beta1'): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  }
}

function rowObject(object: KubeObject, { include, version }: TableOptions): JsonValue {
  if (include === 'None') return null
  return include === 'Object' ? object : partialMetadata(object, version)
}

/** What a Table has besides its rows; `metadata` is the list's, or has the object's resourceVersion. */
export function tableHead(
  columns: readonly Column[],
  metadata: JsonObject,
  { version, withColumns }: Pick<TableOptions, 'version' | 'withColumns'>,
): JsonObject {
  const definitions = withCommon(columns).map(({ name, type, format = '', description, priority = 0 }) => ({
    name,
    type,
    format,
    description,
    priority,
  }))
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${version}`,
    metadata,
    columnDefinitions: withColumns ? definitions : null,
  }
}

/** What makes an object a row of a Table. */
export function tableRows(columns: readonly Column[], options: TableOptions): (object: KubeObject) => JsonObject {
  const all = withCommon(columns)
  return (object) => ({
    cells: all.map((column) => cell(column, object, options.now)),
    object: rowObject(object, options),
  })
}

/** A Table with one row. */
export const table = (
  columns: readonly Column[],
  object: KubeObject,
  metadata: JsonObject,
  options: TableOptions,
): JsonObject => ({
  ...tableHead(columns, metadata, options),
  rows: [tableRows(columns, options)(object)],
})
