/** Lists the verbs of every resource, as discovery does: for reviews, which must not allow others. */

import { computedVerbs, statusVerbs, storedVerbs } from '../engine/registry/kind.ts'
import { type KindRow, kindRows } from '../kinds.ts'

/** A resource or subresource of this API with its verbs. */
interface ResourceVerbs {
  kind: KindRow
  subresource: string
  verbs: readonly string[]
}

export const resourceVerbs: readonly ResourceVerbs[] = kindRows.flatMap((kind): ResourceVerbs[] => {
  const { subresource = '', archetype } = kind
  if (archetype === 'computed') return [{ kind, subresource, verbs: computedVerbs }]
  if (archetype === 'virtual') return [{ kind, subresource, verbs: ['create'] }]
  return [
    { kind, subresource, verbs: storedVerbs },
    { kind, subresource: 'status', verbs: statusVerbs },
  ]
})
