/** Makes the printer columns that show a field, as `additionalPrinterColumns` of custom resources do. */
import type { KubeObject } from '../meta/types.ts'
import type { Column, FieldPath } from './kind.ts'

interface Options extends Pick<Column, 'priority'> {
  type?: Column['type']
  /** Shown for an absent field. Default: an empty cell. */
  absent?: boolean | number
}

/** Returns the column of a field. */
export function column(
  name: string,
  path: FieldPath,
  description: string,
  { type = 'string', absent, ...more }: Options = {},
): Column {
  const [part, field = ''] = path.split('.') as ['spec' | 'status', string]
  const value = (object: KubeObject) => object[part]?.[field] ?? absent
  return { name, type, description, ...more, value }
}

/** The option of a column that only `kubectl get -o wide` shows. */
export const wide = { priority: 1 } as const
