/**
 * Takes the members of a stored spec and status that their schema does not describe out of the way of a read or a write, and puts them
 * back. Another release has stored them: clients of this one neither see, set nor remove them, and do not lose them. Members
 * further inside are not kept, because they belong to a value that the client replaces.
 */
import type { JsonValue, KubeObject } from '../types.ts'
import { isObject } from '../value/walk.ts'
import type { KindSchema, ObjectSchema } from './schema.ts'

const PARTS = ['spec', 'status'] as const

const membersOf = (value: JsonValue | undefined, schema: ObjectSchema | undefined, isDescribed: boolean) =>
  Object.entries(isObject(value) && schema ? value : {}).filter(
    ([name]) => Object.hasOwn(schema?.properties ?? {}, name) === isDescribed,
  )

/** Returns the object without the undescribed members. */
export function withoutUndescribed(stored: KubeObject, kind: KindSchema): KubeObject {
  const next = { ...stored }
  for (const part of PARTS) {
    if (membersOf(stored[part], kind[part], false).length === 0) continue
    next[part] = Object.fromEntries(membersOf(stored[part], kind[part], true))
  }
  return next
}

/** Returns `next` with the undescribed members of `stored`. */
export function keepUndescribed(next: KubeObject, stored: KubeObject, kind: KindSchema): KubeObject {
  const kept = { ...next }
  for (const part of PARTS) {
    const undescribed = membersOf(stored[part], kind[part], false)
    if (undescribed.length === 0) continue
    const described = membersOf(next[part], kind[part], true)
    kept[part] = Object.fromEntries([...described, ...undescribed])
  }
  return kept
}
