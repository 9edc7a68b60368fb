/**
 * What a kind may define. Everything that differs between kinds is a property of the kind; shared code never asks which
 * kind it has. The verbs that are served follow from the archetype.
 */
import type { UserInfo } from '../authorization/users/user.ts'
import type { Floats } from '../meta/encoding/floats.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import type { FieldError } from '../meta/errors/fielderror.ts'
import type { ObjectSchema } from '../meta/schema/schema.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { GroupResource, JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { Companion, Stored, Table } from '../storage/interface.ts'

export interface KindInfo {
  group: string
  version: string
  kind: string
  /** Plural resource name, as in paths. */
  plural: string
  singular: string
  shortNames?: readonly string[]
  categories?: readonly string[]
  scope: 'Cluster' | 'Namespaced'
  description: string
  /**
   * Its spec decides who gets which access. A field that is misspelled, or in the wrong place, must not widen that: unknown and
   * duplicate fields are refused unless the client asks for something else.
   */
  grantsAccess?: true
  schema: { spec: ObjectSchema; status?: ObjectSchema }
}

/** A printer column; `priority` > 0 shows with `-o wide` only. Dates are given as RFC 3339 and shown as ages. */
export interface Column {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  format?: 'name'
  description: string
  priority?: number
  value(object: KubeObject, now: Date): JsonValue | undefined
}

/** What the audit record of a request may say, besides what every record says. */
export type Note = string | number | boolean | readonly string[]

/** What a request brings to a strategy, besides the objects. */
export interface RequestContext {
  user: UserInfo
  /** The moment of the request: the same for everything that it writes. */
  now: Date
  dryRun: boolean
  /** Nothing is written, signed or ordered once it is over. */
  deadline: Deadline
  /** Adds a Warning header. */
  warn(text: string): void
  /** Adds to the audit record (docs/audit.md has the names), or takes back with undefined; never a secret. */
  note(key: string, value: Note | undefined): void
}

/** Who is shown an object, and when. */
export type Reader = Pick<RequestContext, 'user' | 'now'>

/** An object on its way to the store: hooks may change it. */
export interface Draft {
  object: KubeObject
  internal: JsonObject
  /** Non-empty write-only values of this request. */
  secrets: readonly Secret[]
  /** Numbers that the request writes as floating point. */
  floats?: Floats
  /** Set by a hook when something outside the visible spec changed that counts as a change of spec. */
  specChanged?: boolean
  /** Write-only values to show in the answer of a creation, and in no other. */
  reveal?: readonly Secret[]
}

/** The subresource of a write: '' is the object itself. */
export type Subresource = '' | 'status'

/** What a user may do with one stored object, and by which rule: `hidden` objects do not exist for them (404). */
export type Access = { type: 'allowed'; rule?: string } | { type: 'hidden' } | { type: 'denied'; reason: string }

/** The verbs that show many objects at once. */
export type ListVerb = 'list' | 'watch' | 'deletecollection'

/** A bound on the objects of an index partition. */
export interface Quota {
  /** The setting that it is from. */
  name: string
  partition: string
  most: number
}

/** The particulars of a stored kind. All hooks are optional; none may mutate what is stored. */
export interface Strategy {
  /**
   * Whether the user may do this with the stored object. Default: only system:masters, whom a hook has to allow
   * everything too: their lists do not ask it.
   */
  access?(stored: Stored, verb: string, subresource: string, user: UserInfo): Access
  /** Whether the user may create at all (the particulars come in `authorize`). Default: only system:masters. */
  mayCreate?(user: UserInfo): Access
  /** The index partitions that hold everything this user may list; undefined = all objects must be looked at. */
  partitions?(user: UserInfo, verb: ListVerb): readonly string[] | undefined
  prepareForCreate?(draft: Draft, context: RequestContext): void | Promise<void>
  prepareForUpdate?(draft: Draft, old: Stored, context: RequestContext): void | Promise<void>
  /** Beyond the schema; `old` on updates. */
  validate?(draft: Draft, old: Stored | undefined, context: RequestContext): FieldError[]
  /** Validating admission: throws StatusErrors for what this user may not write. */
  authorize?(draft: Draft, old: Stored | undefined, context: RequestContext): void
  /** How many objects there may be in the index partition that a new one is to lie in; undefined = as many as there are. */
  quota?(draft: Draft, context: RequestContext): Quota | undefined
  /** Side items to be committed with the object. `after` undefined = the object goes. */
  companions?(
    after: { object: KubeObject; internal: JsonObject; secrets: readonly Secret[] } | undefined,
    before: Stored | undefined,
  ): readonly Companion[] | Promise<readonly Companion[]>
  /** The field error that an existing companion means where there may be none (`ifAbsent`, `absent`). */
  companionExists?(): FieldError
  /** Adds what is computed on reads. Returns a new object. */
  present?(stored: Stored, reader: Reader): KubeObject
}

export interface StoredKind<S = never> extends KindInfo {
  archetype: 'stored'
  table: Table
  /** Its objects give access by themselves: what is made or changed with an access key is conditional on that key (maker.ts). */
  isCredential?: true
  columns: readonly Column[]
  /** Selectable fields besides metadata.name and metadata.namespace. */
  fields: Readonly<Record<string, (object: KubeObject) => string>>
  strategy(services: S): Strategy
}

/** A create of a virtual kind; where it is a subresource (`/virtualclusterinstances/NAME/kubeconfig`), with its parent. */
export interface VirtualRequest {
  object: KubeObject
  /** From the path. */
  namespace: string
  /** The parent's name, from the path; '' where there is none. */
  name: string
  context: RequestContext
}

export interface VirtualKind<S = never> extends KindInfo {
  archetype: 'virtual'
  /** Set for a subresource of another resource: POST …/PARENT/NAME/SUBRESOURCE. */
  subresource?: string
  /** The answer to a create; nothing is stored. Validates beyond the schema. */
  create(request: VirtualRequest, services: S): Promise<KubeObject>
  /** Bodies may be Kubernetes protobuf: field numbers of `spec` (see endpoints/protobuf.ts). */
  protobuf?: ProtobufMessage
  columns?: readonly Column[]
}

/** Field numbers of the part of a protobuf message that is read. */
export interface ProtobufMessage {
  [field: number]:
    | { name: string; type: 'string' | 'strings' }
    /** Of texts to lists of texts: `map<string, ExtraValue>`. */
    | { name: string; type: 'map' }
    | { name: string; type: 'message'; fields: ProtobufMessage }
}

export type Kind<S = never> = StoredKind<S> | VirtualKind<S>

/** A kind as documents tell of it, whatever it does. Of an `absent` one there is nothing, and can be nothing. */
export type ServedKind = KindInfo & { archetype: 'stored' | 'virtual' | 'absent'; subresource?: string }

/** The verbs of every stored kind, in the order of discovery. */
export const storedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

/** The verbs of its status. */
export const statusVerbs = ['get', 'patch', 'update'] as const

/** The verbs that have handlers: a watch is a list that goes on. */
export type StoredVerb = Exclude<(typeof storedVerbs)[number], 'watch'>

/** As errors name the kind: `ownedaccesskeys.management.platform`. */
export const groupResource = ({ group, plural }: KindInfo): GroupResource => ({ group, resource: plural })
