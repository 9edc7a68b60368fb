/** Selects objects of a list or watch by the labels and fields that clients see. */

import { aggregate, invalid } from '../../meta/errors/fielderror.ts'
import { badRequest, type StatusError } from '../../meta/errors/status.ts'
import { parseResourceVersion } from '../../meta/object/resourceversion.ts'
import { memberSchema } from '../../meta/schema/schema.ts'
import { checkFields, matchesFields, requiredValues } from '../../meta/selectors/fields.ts'
import { matcherOf, textOf } from '../../meta/selectors/labelmatcher.ts'
import type { JsonObject } from '../../meta/types.ts'
import { defined } from '../../meta/value/defined.ts'
import { own } from '../../meta/value/walk.ts'
import type { RequestContext, StoredKind } from '../../registry/kind.ts'
import type { Store } from '../../registry/store.ts'
import type { ListRequest, Stored } from '../../storage/interface.ts'
import type { ListOptions } from './listoptions.ts'

/** Where the objects are that may match: in these index partitions, under this name, or anywhere. */
interface Place extends Pick<ListRequest, 'within' | 'named'> {
  namePrefix?: string
  /** A text that is in the JSON of every object that matches. */
  text?: string
  /** The name and namespace that the field selector requires; undefined if it requires none. */
  name: string | undefined
  namespace: string | undefined
}

/** Reports whether an object meets a condition. */
type Filter = (stored: Stored) => boolean

export interface Selection extends Place {
  /** Whether there is no filter, so that every object whose name begins with `namePrefix` matches. */
  readonly all: boolean
  matches: Filter
}

/** Returns the selection of the objects whose name begins with the prefix, and that meet every filter. */
export function selecting(filters: readonly Filter[], place: Place): Selection {
  const { namePrefix } = place
  const begins: Filter = ({ object }) =>
    namePrefix === undefined || object.metadata.name?.startsWith(namePrefix) === true
  return {
    ...place,
    all: filters.length === 0,
    matches: (stored) => begins(stored) && filters.every((meets) => meets(stored)),
  }
}

/** What computes the values of fields on reads, and the user who reads them. */
interface Computing {
  strategy: Pick<Store['strategy'], 'computedFields'>
  user: RequestContext['user']
}

/** Returns the value that a selector compares, or several. An absent boolean is false. */
function fieldValue(
  { schema }: Pick<StoredKind, 'schema'>,
  stored: Stored,
  field: string,
  computing: Computing | undefined,
): string | readonly string[] {
  const computed = computing && own(computing.strategy.computedFields ?? {}, field)
  if (computed) {
    const found = computed(stored, computing.user)
    return found?.length ? found : ''
  }
  const { object } = stored
  const [part, name = ''] = field.split('.') as ['metadata' | 'spec' | 'status', string?]
  const absent = part !== 'metadata' && memberSchema(schema[part], name)?.type === 'boolean' ? false : ''
  return String((object[part] as JsonObject | undefined)?.[name] ?? absent)
}

/** Returns the selection of a list or watch. Throws 400 for a field selector with unknown fields. */
export function selectionOf(
  kind: Pick<StoredKind, 'schema' | 'scope' | 'selectableFields' | 'selectedPartitions'>,
  { labels, fields, namePrefix }: Pick<ListOptions, 'labels' | 'fields' | 'namePrefix'>,
  computing?: Computing,
): Selection {
  const supported = [
    'metadata.name',
    ...(kind.scope === 'Namespaced' ? ['metadata.namespace'] : []),
    ...kind.selectableFields,
  ]
  checkFields(fields, supported)
  const matchesLabels = matcherOf(labels)
  const required = (field: string) => requiredValues(fields, field)
  const byLabels: Filter = ({ object }) => matchesLabels(object.metadata.labels ?? {})
  const byFields: Filter = (stored) => matchesFields(fields, (field) => fieldValue(kind, stored, field, computing))
  return selecting([...(labels.length > 0 ? [byLabels] : []), ...(fields.length > 0 ? [byFields] : [])], {
    ...defined({ namePrefix, text: textOf(labels) }),
    ...kind.selectedPartitions?.(required),
    name: required('metadata.name')[0],
    namespace: required('metadata.namespace')[0],
  })
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
