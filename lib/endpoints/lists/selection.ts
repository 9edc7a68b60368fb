/** Selects objects of a list or watch by the labels and fields that clients see. */

import { aggregate, invalid } from '../../meta/errors/fielderror.ts'
import { badRequest, type StatusError } from '../../meta/errors/status.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { memberSchema } from '../../meta/schema/schema.ts'
import { checkFields, matchesFields, requiredValues } from '../../meta/selectors/fields.ts'
import { matcherOf } from '../../meta/selectors/labelmatcher.ts'
import type { JsonObject, KubeObject } from '../../meta/types.ts'
import type { StoredKind } from '../../registry/kind.ts'
import type { Stored } from '../../storage/interface.ts'
import type { ListOptions } from '../options.ts'

export interface Selection {
  /** True when there is no selector, so that every object matches. */
  all: boolean
  matches(stored: Stored): boolean
  /** The name and namespace that the field selector requires; undefined if it requires none. */
  name: string | undefined
  namespace: string | undefined
}

/** Returns the value that a selector compares. An absent boolean is false. */
function fieldValue({ schema }: Pick<StoredKind, 'schema'>, object: KubeObject, field: string): string {
  const [part, name = ''] = field.split('.') as ['metadata' | 'spec' | 'status', string?]
  const absent = part !== 'metadata' && memberSchema(schema[part], name)?.type === 'boolean' ? false : ''
  return String((object[part] as JsonObject | undefined)?.[name] ?? absent)
}

/** Returns the selection of a list or watch. Throws 400 for a field selector with unknown fields. */
export function selectionOf(
  kind: Pick<StoredKind, 'schema' | 'scope' | 'selectableFields'>,
  { labels, fields }: Pick<ListOptions, 'labels' | 'fields'>,
): Selection {
  const supported = [
    'metadata.name',
    ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : []),
    ...kind.selectableFields,
  ]
  checkFields(fields, supported)
  const matchesLabels = matcherOf(labels)
  return {
    all: labels.length === 0 && fields.length === 0,
    matches: ({ object }) =>
      matchesLabels(object.metadata.labels ?? {}) && matchesFields(fields, (field) => fieldValue(kind, object, field)),
    name: requiredValues(fields, 'metadata.name')[0],
    namespace: requiredValues(fields, 'metadata.namespace')[0],
  }
}

/**
 * Parses a resourceVersion parameter. Returns undefined if it is empty, and 0 for "any". Numbers beyond any revision are
 * rounded. Throws 400 with a message that starts with `prefix`.
 */
export function parseRevision(resourceVersion: string, prefix = ''): number | undefined {
  if (resourceVersion === '') return undefined
  const failure = (why: string): StatusError =>
    badRequest(`${prefix}${aggregate([invalid('resourceVersion', resourceVersion, why)])}`)
  return Number(parseResourceVersion(resourceVersion, failure))
}
