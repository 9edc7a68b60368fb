/** Names the members of objects, and sets each to what it should not be. */
import type { Schema } from '../../lib/engine/meta/schema/schema.ts'
import type { Json } from './functions.ts'

/** What no member should be: of another type, empty, or left out (undefined). */
export const WRONG = [null, [], {}, '', 0, undefined]

const WRITTEN = ['name', 'namespace', 'labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields']
const SYSTEM = ['generateName', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp']

/** The members that every object has. */
export const commonPaths: readonly string[][] = [
  ['apiVersion'],
  ['kind'],
  ['metadata'],
  ...[...WRITTEN, ...SYSTEM].map((name) => ['metadata', name]),
]

/** Returns the path of every member that the schema declares, and of one item of each list and map. */
export function membersOf(schema: Schema | undefined, path: string[]): string[][] {
  const inside =
    schema?.type === 'object'
      ? Object.entries(schema.properties).flatMap(([name, one]) => membersOf(one, [...path, name]))
      : schema?.type === 'list'
        ? membersOf(schema.items, [...path, '0'])
        : schema?.type === 'map'
          ? membersOf(schema.values, [...path, 'a'])
          : []
  return [path, ...inside]
}

/** Returns a copy in which the member has the value, or is left out for undefined. Makes the objects and lists above it. */
export function withMember(target: Json, [name = '', ...rest]: readonly string[], value: unknown): Json {
  const copy = Array.isArray(target) ? [...target] : { ...target }
  if (rest.length > 0) copy[name] = withMember(target?.[name] ?? (rest[0] === '0' ? [] : {}), rest, value)
  else if (value === undefined) delete copy[name]
  else copy[name] = value
  return copy
}

/** kube-apiserver answers 500 too when the body of an apply does not fit the schema. */
const KUBERNETES = /^failed to create typed patch object /

/** Returns the status and the message of an answer that blames the server, or undefined. */
export const failureIn = ({ status, json }: { status: number; json: Json }): string | undefined =>
  status < 500 || KUBERNETES.test(json?.message) ? undefined : `${status} ${json?.message}`
