/**
 * Declares the properties of a kind. All differences between kinds are properties: shared code never checks which kind it
 * handles. The archetype determines the verbs.
 */

import type { Floats } from '../meta/encoding/floats.ts'
import type { Deadline } from '../meta/errors/deadline.ts'
import type { FieldError } from '../meta/errors/fielderror.ts'
import type { StatusError } from '../meta/errors/status.ts'
import type { ObjectSchema } from '../meta/schema/schema.ts'
import type { Secret } from '../meta/schema/writeonly.ts'
import type { GroupResource, JsonObject, JsonValue, KubeObject } from '../meta/types.ts'
import type { Companion, ListRequest, Stored, Table } from '../storage/interface.ts'
import type { ItemKey } from '../storage/keys.ts'
import type { ProtobufMessage } from './protobuf.ts'
import type { User } from './user.ts'

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
   * Whether the spec grants access. A misspelled or misplaced field must not widen it, so unknown and duplicate fields are
   * refused unless the client sets `fieldValidation`. A misspelled `dryRun` would grant it in earnest, so parameters that look
   * like it are refused.
   */
  grantsAccess?: true
  /**
   * Whether the spec selects objects to change. A misspelled or empty field must not select more, so unknown, duplicate and
   * null fields are refused, whatever the client sets as `fieldValidation`.
   */
  selectsObjects?: true
  schema: { spec: ObjectSchema; status?: ObjectSchema }
}

/** The path of a field of spec or status: `spec.disabled`. */
export type FieldPath = `${'spec' | 'status'}.${string}`

/** Returns the values that a field selector requires of a field. */
type RequiredValues = (field: FieldPath) => readonly string[]

/** A printer column. `priority` > 0 is shown only with `-o wide`. Values of dates are RFC 3339 and shown as ages. */
export interface Column {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  format?: 'name'
  description: string
  priority?: number
  value(object: KubeObject, now: Date): JsonValue | undefined
}

/** A value that a request adds to its audit record. */
export type Note = string | number | boolean | readonly string[]

/** The context of a request that strategies see, besides the objects. */
export interface RequestContext {
  user: User
  /** The time of the request: the same for everything that it writes. */
  now: Date
  dryRun: boolean
  /** The ID of the request, as in its audit record. Absent for what the server does by itself. */
  requestId?: string
  /** After the deadline, nothing is written, signed or requested elsewhere. */
  deadline: Deadline
  /** Adds a Warning header. */
  warn(text: string): void
  /** Adds a note to the audit record (docs/audit.md lists the keys), or removes it with undefined. Never pass a secret. */
  note(key: string, value: Note | undefined): void
}

/** The user who reads an object, and the time. */
export type Reader = Pick<RequestContext, 'user' | 'now'>

/** An object as a request writes it. */
export interface Draft {
  object: KubeObject
  internal: JsonObject
  /** Non-empty write-only values of this request. */
  secrets: readonly Secret[]
  /** Numbers that the request writes in floating point. */
  floats?: Floats
}

/**
 * A write of an object. `before` is the stored object, which no plan may change. A `mark` sets the time of deletion, and a `delete` removes
 * the object. `intent` says what the server itself writes for; requests of clients have none.
 */
export type Write<I = unknown> = { context: RequestContext; intent?: I | undefined } & (
  | { type: 'create'; draft: Draft; before?: undefined }
  | { type: 'update' | 'status' | 'mark'; draft: Draft; before: Stored }
  | { type: 'delete'; draft?: undefined; before: Stored }
)

/** What a kind plans for a write. The members come into effect in this order. */
export interface Planned {
  /** What is stored. Default: the draft. */
  object?: KubeObject
  internal?: JsonObject
  /** Whether a change outside the visible spec counts as a change of the spec. */
  changesSpec?: boolean
  /** Whether the generation rises by one more: something took effect before the request, and no write said so yet. */
  raisesGeneration?: boolean
  /** The warnings for whoever writes. */
  warnings?: readonly string[]
  /** Why the user may not write the object: the reason of a 403, or another error. */
  refusal?: string | StatusError | undefined
  /**
   * Why the user may change nothing of the object (403). It applies to metadata and status too, and to removing a finalizer of an object that
   * is being deleted. The delete itself has the rules of `access`.
   */
  forbidsChange?: string | undefined
  /** The limit for the index partition of a new object. Absent: unlimited. */
  quota?: Quota | undefined
  /** Returns the side items to commit with the object as it is stored. Runs again after a lost race. */
  items?(object: KubeObject): readonly Companion[] | Promise<readonly Companion[]>
  /** The field error for a side item that exists but must not (`ifAbsent`, `absent`). Absent: the caller explains it. */
  duplicate?: FieldError | undefined
  /** The warning for whoever deletes the object, if it leaves something behind that they may not expect. */
  deleteWarning?: string | undefined
  /** Write-only values to return in the response of a create, and in no other. */
  reveal?: readonly Secret[]
}

/** The subresource of a write; '' is the object itself. */
export type Subresource = '' | 'status'

/** Whether a user may access an object, and by which rule. A `hidden` object does not exist for the user (404). */
export type Access = { type: 'allowed'; rule?: string } | { type: 'hidden' } | { type: 'denied'; reason: string }

/** The verbs of collections. */
export type ListVerb = 'list' | 'watch' | 'deletecollection'

/** A limit on the number of objects in an index partition. */
interface Quota {
  /** The setting that defines the limit. */
  name: string
  partition: string
  most: number
}

/** Returns the attributes of a side item that `itemsToPresent` named, or undefined if it does not exist. */
export type PresentedItems = (key: ItemKey) => JsonObject | undefined

/** The hooks of a stored kind, with the intents of the server's own writes. All are optional, and none may mutate a stored object. */
export interface Strategy<I = unknown> {
  /**
   * Reports whether the user may access the stored object, or for undefined whether they may create objects at all; `plan` checks the
   * details. Default: only administrators. A hook must allow them everything, because their lists do not call it.
   */
  access?(stored: Stored | undefined, verb: string, subresource: string, user: User): Access
  /** Returns the index partitions with all objects that this user may list. Undefined: scan all objects. */
  partitions?(user: User, verb: ListVerb): readonly string[] | undefined
  /**
   * Returns why the user may not point a field with `reference` in the schema at this value, or undefined: judged as if they had asked
   * for what it names. Without this hook, nobody may set such a field.
   */
  mayRefer?(value: string, object: KubeObject, user: User): string | undefined
  /** Plans a write that the schema allows. Throws 422 for what is invalid beyond the schema. Runs again after a lost race of an update or a deletion. */
  plan?(write: Write<I>): Planned | Promise<Planned>
  /** Returns the side items that `status` needs besides an object with this internal part. Most need none. */
  itemsToPresent?(internal: JsonObject): readonly ItemKey[]
  /** The values of the selectable fields that are computed on reads, as this user may know them. Of several, a selector finds each. */
  computedFields?: Readonly<Record<FieldPath, (stored: Stored, user: User) => string | readonly string[] | undefined>>
  /**
   * Returns the members of the status that are computed on reads; one that is undefined hides the stored one. `items` is absent in the
   * response of a write.
   */
  status?(stored: Stored, reader: Reader, items?: PresentedItems): Readonly<Record<string, JsonValue | undefined>>
}

export interface StoredKind<S = never, I = unknown> extends KindInfo {
  archetype: 'stored'
  table: Table
  /** Whether objects grant access by themselves. Writes are then conditional on the credential of the request (`guard` of a store). */
  isCredential?: true
  columns: readonly Column[]
  /** Selectable fields besides metadata.name and metadata.namespace: `spec.disabled`. */
  selectableFields: readonly FieldPath[]
  /** Returns the index partitions that have every object with the values that a field selector requires, if there are any. */
  selectedPartitions?(required: RequiredValues): Pick<ListRequest, 'within' | 'named'>
  strategy(services: S): Strategy<I>
}

/** A create of a virtual kind, with its parent if it is a subresource (`/lamps/NAME/SUBRESOURCE`). */
export interface VirtualRequest {
  object: KubeObject
  /** From the path. */
  namespace: string
  /** The name of the parent, from the path; '' without one. */
  name: string
  context: RequestContext
}

/** A credential that a virtual kind issued, as client-go names its parts. A dry run has issued none. */
export interface IssuedCredential {
  /** RFC 3339. */
  expirationTimestamp?: string
  token?: string
  /** PEM, like the key. */
  clientCertificateData?: string
  clientKeyData?: string
}

export interface VirtualKind<S = never> extends KindInfo {
  archetype: 'virtual'
  /** Set if the kind is a subresource of another resource: POST …/PARENT/NAME/SUBRESOURCE. */
  subresource?: string
  /** The verbs, if there are others than create. */
  verbs?: readonly string[]
  /** The media types of its patches, if it accepts others than most kinds. */
  patchTypes?: readonly string[]
  /** Whether `metadata.resourceVersion` is that of the parent, as a precondition. Otherwise it is dropped. */
  hasPreconditions?: true
  /** Validates beyond the schema and returns the response. Stores nothing itself. */
  create(request: VirtualRequest, services: S): Promise<KubeObject>
  /**
   * Returns the credential in the response, for clients that ask for it alone (ExecCredential). Returns undefined if the
   * request asked for none. Absent for kinds that issue no credentials to clients.
   */
  credential?(response: KubeObject): IssuedCredential | undefined | Promise<IssuedCredential | undefined>
  /** The protobuf field numbers of `spec`, if the kind accepts Kubernetes protobuf bodies. */
  protobuf?: ProtobufMessage
  columns?: readonly Column[]
}

/** A subresource that is computed when it is read, and that nobody writes: GET …/PARENT/NAME/SUBRESOURCE. */
export interface ComputedKind<S = never> extends KindInfo {
  archetype: 'computed'
  subresource: string
  columns?: readonly Column[]
  /** Returns the object. Throws 404 if the parent does not exist for the user. */
  read(request: Omit<VirtualRequest, 'object'>, services: S): Promise<KubeObject>
}

/** A kind as discovery and OpenAPI describe it. An `absent` kind has no objects and supports no writes. */
export type ServedKind = KindInfo & { archetype: 'stored' | 'virtual' | 'computed' | 'absent' } & Pick<
    VirtualKind,
    'subresource' | 'verbs' | 'patchTypes' | 'credential'
  >

/** The verbs of every stored kind, in the order of discovery. */
export const storedVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'] as const

export const statusVerbs = ['get', 'patch', 'update'] as const

export const computedVerbs = ['get'] as const

/** The verbs that have handlers. The list handler also serves watch. */
export type StoredVerb = Exclude<(typeof storedVerbs)[number], 'watch'>

/** Returns the group and resource of a kind, for errors: `lamps.example.test`. */
export const groupResource = ({ group, plural }: Pick<KindInfo, 'group' | 'plural'>): GroupResource => ({
  group,
  resource: plural,
})
