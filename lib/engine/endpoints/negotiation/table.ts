/**
 * Prints objects as rows of a Table, which `kubectl get` shows. Source: k8s.io/apiextensions-apiserver tableconvertor,
 * k8s.io/apimachinery meta/v1 Table.
 */
import { humanDuration, parseTime } from '../../meta/encoding/time.ts'
import type { JsonObject, JsonValue, KubeObject } from '../../meta/types.ts'
import type { Column } from '../../registry/kind.ts'

/** What a row includes of its object: nothing, its metadata (as PartialObjectMetadata), or the whole object. */
export type RowObject = 'None' | 'Metadata' | 'Object'

interface TableOptions {
  version: 'v1' | 'v1beta1'
  include: RowObject
  now: Date
  /** False for the events of a watch after the first, which omit the column definitions. */
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

/** Returns the time since a date, or until a future one (expiry dates): `5m`. Null without a value, `<invalid>` for no date. */
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

/** Returns the PartialObjectMetadata of an object. */
export function partialMetadata(object: KubeObject, version: 'v1' | 'v1beta1'): JsonObject {
  return {
    kind: 'PartialObjectMetadata',
    apiVersion: `meta.k8s.io/${version}`,
    metadata: object.metadata,
  }
}

/** Returns a Table without rows. `metadata` is that of the list, or has the resourceVersion of the object. */
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

/** Returns a function that converts an object to a row. */
export function tableRows(columns: readonly Column[], options: TableOptions): (object: KubeObject) => JsonObject {
  const all = withCommon(columns)
  const { include, version, now } = options
  const shown = { None: () => null, Metadata: partialMetadata, Object: (object: KubeObject) => object }[include]
  return (object) => ({ cells: all.map((column) => cell(column, object, now)), object: shown(object, version) })
}
