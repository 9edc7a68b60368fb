/**
 * Judges references from an object to something outside it: whoever sets one is judged as if they had asked for its target.
 * Otherwise a caller reaches through an object of theirs what their rights do not allow.
 */
import { type FieldError, invalid } from '../meta/errors/fielderror.ts'
import { groupVersion } from '../meta/groupversion.ts'
import type { Schema } from '../meta/schema/schema.ts'
import type { JsonValue, KubeObject, OwnerReference } from '../meta/types.ts'
import { isObject, own } from '../meta/value/walk.ts'
import type { Draft, KindInfo, RequestContext } from './kind.ts'
import type { Store } from './store.ts'

/** Returns the references below a value, by their paths. */
function referencesIn(schema: Schema, value: JsonValue | undefined, path: string): [string, string][] {
  if (schema.type === 'string') return schema.reference && typeof value === 'string' ? [[path, value]] : []
  if (schema.type === 'list' && Array.isArray(value)) {
    return value.flatMap((item, index) => referencesIn(schema.items, item, `${path}[${index}]`))
  }
  if (!isObject(value)) return []
  if (schema.type === 'map') {
    return Object.entries(value).flatMap(([name, one]) => referencesIn(schema.values, one, `${path}[${name}]`))
  }
  if (schema.type !== 'object') return []
  return Object.entries(schema.properties).flatMap(([name, one]) =>
    referencesIn(one, own(value, name), `${path}.${name}`),
  )
}

/**
 * Returns the 422 errors for references that the write sets and whose target is beyond the user. Those that stay as they are
 * were judged when they were set, so everybody who may change an object can write back what they read.
 */
export function validateReferences(
  { kind, strategy }: Pick<Store, 'kind' | 'strategy'>,
  { object }: Pick<Draft, 'object'>,
  old: KubeObject | undefined,
  { user }: Pick<RequestContext, 'user'>,
): FieldError[] {
  const { spec } = kind.schema
  const before = new Map(old && referencesIn(spec, old.spec, 'spec'))
  return referencesIn(spec, object.spec, 'spec').flatMap(([path, value]) => {
    if (before.get(path) === value) return []
    const reason = strategy.mayRefer ? strategy.mayRefer(value, object, user) : 'may not be set'
    return reason === undefined ? [] : [invalid(path, value, reason)]
  })
}

export type NamedKind = Pick<KindInfo, 'group' | 'version' | 'kind' | 'scope'>

/**
 * Reports whether an owner reference names this kind, also in lower case, as the mapper of kube-apiserver does for its garbage
 * collector and for admission. Source: k8s.io/client-go restmapper/discovery.go.
 */
export const namesKind = (kind: NamedKind, { apiVersion, kind: name }: OwnerReference): boolean =>
  groupVersion(kind) === apiVersion && (name === kind.kind || name === kind.kind.toLowerCase())

/**
 * Reports whether the reference names lists of this kind, or of any kind of its version. The latter are in no namespace. The mapper
 * knows lists as kinds, of which no object is ever found.
 */
export const namesLists = (kind: NamedKind, { apiVersion, kind: name }: OwnerReference, namespace: string): boolean =>
  groupVersion(kind) === apiVersion &&
  (name === 'List' || (name === `${kind.kind}List` && (kind.scope === 'Cluster' || namespace !== '')))
