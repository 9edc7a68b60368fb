/** Selects objects of a list or watch by the labels and fields that clients see. */

import { aggregate, invalid } from '../../meta/errors/fielderror.ts'
import { badRequest, type StatusError } from '../../meta/errors/status.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { checkFields, fieldRequirement, matchesFields } from '../../meta/selectors/fields.ts'
import { matcherOf } from '../../meta/selectors/labelmatcher.ts'
import type { KubeObject } from '../../meta/types.ts'
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

function fieldValue(kind: Pick<StoredKind, 'fields'>, object: KubeObject, field: string): string {
  if (field === 'metadata.name') return object.metadata.name ?? ''
  if (field === 'metadata.namespace') return object.metadata.namespace ?? ''
  return kind.fields[field]?.(object) ?? ''
}

/** Returns the selection of a list or watch. Throws 400 for a field selector with unknown fields. */
export function selectionOf(
  kind: Pick<StoredKind, 'fields' | 'scope'>,
  { labels, fields }: Pick<ListOptions, 'labels' | 'fields'>,
): Selection {
  const supported = [
    'metadata.name',
    ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : []),
    ...Object.keys(kind.fields),
  ]
  checkFields(fields, supported)
  const matchesLabels = matcherOf(labels)
  return {
    all: labels.length === 0 && fields.length === 0,
    matches: ({ object }) =>
      matchesLabels(object.metadata.labels ?? {}) && matchesFields(fields, (field) => fieldValue(kind, object, field)),
    name: fieldRequirement(fields, 'metadata.name'),
    namespace: fieldRequirement(fields, 'metadata.namespace'),
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
