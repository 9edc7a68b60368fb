/**
 * The schema language of kinds: the single source of a kind's TypeScript types, decoding, unknown and deprecated field
 * warnings, pruning, write-only fields, list ownership, OpenAPI and reference page. Pure data; the walkers are beside it.
 */
import { own } from '../value/walk.ts'

interface Described {
  /** Shown by `kubectl explain` and on the reference page. */
  description: string
  /** What to use instead; using the field answers with a Warning. */
  deprecated?: string
  /** Never stored in the object, never returned by a read; `once` is returned by the answer that creates the object. */
  writeOnly?: 'never' | 'once'
  /** Computed on reads: dropped from what clients send. */
  readOnly?: true
}

export interface StringSchema extends Described {
  type: 'string'
  enum?: readonly string[]
  minLength?: number
  maxLength?: number
  /** ECMAScript source that is also RE2 source. */
  pattern?: string
  format?: 'date-time' | 'uri'
}

export interface IntegerSchema extends Described {
  type: 'integer'
  format: 'int32' | 'int64'
  minimum?: number
  maximum?: number
}

export interface BooleanSchema extends Described {
  type: 'boolean'
}

export interface ObjectSchema extends Described {
  type: 'object'
  properties: Readonly<Record<string, Schema>>
  required?: readonly string[]
  /** Owned as a whole by one field manager (`x-kubernetes-map-type: atomic`). */
  atomic?: true
}

/** An object with free member names and values of one schema. */
export interface MapSchema extends Described {
  type: 'map'
  values: Schema
  atomic?: true
}

export interface ListSchema extends Described {
  type: 'list'
  items: Schema
  /** `atomic` lists are owned as a whole; `set` items by value; `map` items by their `keys`. */
  listType: 'atomic' | 'set' | 'map'
  keys?: readonly string[]
  /** Items that lack a key have this one. */
  keyDefaults?: Readonly<Record<string, string>>
  maxItems?: number
}

export type Schema = StringSchema | IntegerSchema | BooleanSchema | ObjectSchema | MapSchema | ListSchema

/** What of a kind describes its objects; metadata is the same for all. */
export interface KindSchema {
  spec?: ObjectSchema
  status?: ObjectSchema
}

/** The TypeScript type of the values that a schema describes. Every member is optional unless `required` names it. */
export type FromSchema<S> = S extends { type: infer T extends keyof Values<S> } ? Values<S>[T] : never

/** One member for each type, looked up and not searched: a chain of conditions exceeds the compiler's depth in a deep schema. */
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
 * `None` for options that nobody gave, and `NoInfer` where results are used as arguments: otherwise the compiler takes
 * the options from what the outer schema accepts, which widens `items` and `properties` to any schema.
 */
type Options<S> = Partial<Omit<S, 'type' | 'description' | 'items' | 'properties' | 'values'>>
type None = Record<never, never>

export const string = <const O extends Options<StringSchema> = None>(description: string, options?: O) =>
  ({ type: 'string', description, ...options }) as { type: 'string'; description: string } & NoInfer<O>

export const boolean = <const O extends Options<BooleanSchema> = None>(description: string, options?: O) =>
  ({ type: 'boolean', description, ...options }) as { type: 'boolean'; description: string } & NoInfer<O>

export const int32 = <const O extends Options<IntegerSchema> = None>(description: string, options?: O) =>
  ({ type: 'integer', format: 'int32', description, ...options }) as {
    type: 'integer'
    format: 'int32'
    description: string
  } & NoInfer<O>

export const int64 = <const O extends Options<IntegerSchema> = None>(description: string, options?: O) =>
  ({ type: 'integer', format: 'int64', description, ...options }) as {
    type: 'integer'
    format: 'int64'
    description: string
  } & NoInfer<O>

/** RFC 3339 text, kept as it was sent. */
export const time = <const O extends Options<StringSchema> = None>(description: string, options?: O) =>
  ({ type: 'string', format: 'date-time', description, ...options }) as {
    type: 'string'
    format: 'date-time'
    description: string
  } & NoInfer<O>

/** A list that is owned as a whole: two appliers must never widen a scope between them (the default here). */
export const list = <const I extends Schema, const O extends Options<ListSchema> = None>(
  description: string,
  items: I,
  options?: O,
) =>
  ({ type: 'list', listType: 'atomic', description, items, ...options }) as {
    type: 'list'
    listType: 'atomic' | 'set' | 'map'
    description: string
    items: I
  } & NoInfer<Omit<O, 'listType'>>

export const map = <const V extends Schema, const O extends Options<MapSchema> = None>(
  description: string,
  values: V,
  options?: O,
) => ({ type: 'map', description, values, ...options }) as { type: 'map'; description: string; values: V } & NoInfer<O>

export const object = <const P extends Readonly<Record<string, Schema>>, const O extends Options<ObjectSchema> = None>(
  description: string,
  properties: P,
  options?: O,
) =>
  ({ type: 'object', description, properties, ...options }) as {
    type: 'object'
    description: string
    properties: P
  } & NoInfer<O>

/** Returns the schema of an object's member, or of any value of a map; undefined where none is declared. */
export function memberSchema(schema: Schema | undefined, name: string): Schema | undefined {
  if (schema?.type === 'map') return schema.values
  return schema?.type === 'object' ? own(schema.properties, name) : undefined
}
