/**
 * Defines the schema language of kinds. A schema is the single source of a kind's TypeScript types, OpenAPI and reference
 * page. It also determines decoding, pruning, warnings about unknown and deprecated fields, write-only fields and list
 * ownership. Schemas are plain data; the other modules of this package process them.
 */
import { own } from '../value/walk.ts'

interface Described {
  /** Appears in `kubectl explain` and on the reference page. */
  description: string
  /** The replacement of this field. Requests that use the field receive a Warning with it. */
  deprecated?: string
  /** Not stored in the object, and not returned by reads. With `once`, the response to the creation returns it. */
  writeOnly?: 'never' | 'once'
  /** Computed on reads; dropped from requests. */
  readOnly?: true
}

export interface StringSchema extends Described {
  type: 'string'
  enum?: readonly string[]
  minLength?: number
  maxLength?: number
  /** An ECMAScript regular expression that is also valid RE2. */
  pattern?: string
  format?: 'date-time' | 'uri'
  /** Names something outside the object. The strategy of the kind judges whoever sets it as if they asked for that (`mayRefer`). */
  reference?: true
}

export interface IntegerSchema extends Described {
  type: 'integer'
  format: 'int32' | 'int64'
  minimum?: number
  maximum?: number
}

interface BooleanSchema extends Described {
  type: 'boolean'
}

export interface ObjectSchema extends Described {
  type: 'object'
  properties: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /** Owned as a whole by one field manager (`x-kubernetes-map-type: atomic`). */
  atomic?: true
}

/** An object with any member names, whose values share one schema. */
export interface MapSchema extends Described {
  type: 'map'
  values: Schema
  atomic?: true
}

export interface ListSchema extends Described {
  type: 'list'
  items: Schema
  /** Field managers own `atomic` lists as a whole, `set` items by value and `map` items by their `keys`. */
  listType: 'atomic' | 'set' | 'map'
  keys?: readonly string[]
  /** The values of absent keys. */
  keyDefaults?: Readonly<Record<string, string>>
  maxItems?: number
}

export type Schema = StringSchema | IntegerSchema | BooleanSchema | ObjectSchema | MapSchema | ListSchema

/** Describes the objects of a kind; all kinds share the schema of metadata. */
export interface KindSchema {
  spec?: ObjectSchema
  status?: ObjectSchema
}

/** The TypeScript type of the values that a schema describes. Every member is optional unless `required` names it. */
export type FromSchema<S> = S extends { type: infer T extends keyof Values<S> } ? Values<S>[T] : never

/** Has one member for each type: a chain of conditional types exceeds the compiler's depth limit in a deep schema. */
interface Values<S> {
  string: S extends { enum: readonly (infer E)[] } ? E : string
  integer: number
  boolean: boolean
  list: S extends { items: infer I } ? FromSchema<I>[] : never
  map: S extends { values: infer V } ? Record<string, FromSchema<V>> : never
  object: S extends { properties: infer P }
    ? S extends { required: readonly (infer R)[] }
      ? { -readonly [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
          -readonly [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>
        }
      : { -readonly [K in keyof P]?: FromSchema<P[K]> }
    : never
}

/**
 * `None` is the default of omitted options, and results use `NoInfer`. Otherwise the compiler infers the options from the
 * type that the outer schema accepts, which widens `items` and `properties` to any schema.
 */
type Options<S> = Partial<Omit<S, 'type' | 'description' | 'items' | 'properties' | 'values'>>
type None = Record<never, never>

type Built<S, O> = S & { description: string } & NoInfer<O>

export const string = <const O extends Options<StringSchema> = None>(description: string, options?: O) =>
  ({ type: 'string', description, ...options }) as Built<{ type: 'string' }, O>

export const boolean = <const O extends Options<BooleanSchema> = None>(description: string, options?: O) =>
  ({ type: 'boolean', description, ...options }) as Built<{ type: 'boolean' }, O>

export const int32 = <const O extends Options<IntegerSchema> = None>(description: string, options?: O) =>
  ({ type: 'integer', format: 'int32', description, ...options }) as Built<{ type: 'integer'; format: 'int32' }, O>

export const int64 = <const O extends Options<IntegerSchema> = None>(description: string, options?: O) =>
  ({ type: 'integer', format: 'int64', description, ...options }) as Built<{ type: 'integer'; format: 'int64' }, O>

/** An RFC 3339 time, stored exactly as sent. */
export const time = <const O extends Options<StringSchema> = None>(description: string, options?: O) =>
  ({ type: 'string', format: 'date-time', description, ...options }) as Built<
    { type: 'string'; format: 'date-time' },
    O
  >

/** A list, by default atomic: two appliers must not be able to widen a rule together. */
export const list = <const I extends Schema, const O extends Options<ListSchema> = None>(
  description: string,
  items: I,
  options?: O,
) =>
  ({ type: 'list', listType: 'atomic', description, items, ...options }) as Built<
    Pick<ListSchema, 'type' | 'listType'> & { items: I },
    Omit<O, 'listType'>
  >

export const map = <const V extends Schema, const O extends Options<MapSchema> = None>(
  description: string,
  values: V,
  options?: O,
) => ({ type: 'map', description, values, ...options }) as Built<{ type: 'map'; values: V }, O>

export const object = <const P extends Readonly<Record<string, Schema>>, const O extends Options<ObjectSchema> = None>(
  description: string,
  properties: P,
  options?: O,
) => ({ type: 'object', description, properties, ...options }) as Built<{ type: 'object'; properties: P }, O>

/** Returns the schema of an object's member or of a map's values; undefined if the schema declares none. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema?.type === 'map') return schema.values
  return schema?.type === 'object' ? own(schema.properties, name) : undefined
}
