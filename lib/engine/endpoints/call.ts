/** Defines the arguments of handlers: the request and the services that they use. */
import type { KubeObject, Status } from '../meta/types.ts'
import type { ResourceAttributes } from '../registry/attributes.ts'
import type { KindInfo, RequestContext, StoredKind, StoredVerb, VirtualKind } from '../registry/kind.ts'
import type { Store } from '../registry/store.ts'
import type { WriteOptions } from './options.ts'
import type { ApiRequest, ApiResponse } from './request.ts'

/** The limits of a deployment for open watches. */
export interface WatchLimits {
  /** The longest time of a watch. API Gateway cuts streamed responses after 300 s. */
  readonly maxSeconds: number
  /** A watch ends once it has sent no event for this long; 0 = it does not. */
  readonly quietSeconds: number
}

/** The services of the server that the endpoints use. */
export interface EndpointServices {
  /** Rejects with 403 unless the credential allows these attributes. Authorization could not know them: an apply may create. */
  checkAllowed(context: RequestContext, attributes: ResourceAttributes): Promise<void>
  /**
   * Returns the generation of the request's credential, or undefined once it no longer gives access. Long requests ask again:
   * a credential of another generation allows something else than the one that was authorized.
   */
  currentGeneration(context: RequestContext): Promise<number | undefined>
  /** Returns the generation of the request's credential when the request was allowed, if authorization has passed it on. */
  allowedGeneration(context: Pick<RequestContext, 'user'>): number | undefined
  /** Returns the warnings that explain an error to a client with this User-Agent, which shows no causes. */
  explain(status: Status, userAgent: string | undefined): string[]
  readonly watchLimits: WatchLimits
  /** Counts a watch of the request's credential. Throws 429 when it already has its maximum of open watches. */
  openWatch(context: Pick<RequestContext, 'user'>): Promise<OpenWatch>
  /** Resolves after this many milliseconds. */
  sleep(ms: number): Promise<void>
  /** Calls `act` every `ms` milliseconds, until the returned function is called. */
  every(ms: number, act: () => void): () => void
  /** Returns the milliseconds of a monotonic clock. */
  elapsed(): number
}

/** A counted watch. It counts until it is closed, or until a minute after its last `keep`, because its function has died. */
export interface OpenWatch {
  /** Keeps the watch counted. Call it often: it writes only now and then. */
  keep(): Promise<void>
  /** Never rejects. */
  close(): Promise<void>
}

/** A request before its handler has read its options. It is immutable: handlers keep results in local constants. */
export interface Call {
  readonly request: ApiRequest
  /** Lacks `dryRun`, so that no handler can write before it has read its options. */
  readonly context: Omit<RequestContext, 'dryRun'>
  /** The texts that `context.warn` has collected so far. */
  readonly warnings: readonly string[]
  readonly services: EndpointServices
}

export interface StoredCall extends Call {
  readonly kind: StoredKind
  readonly store: Store
}

export interface VirtualCall extends Call {
  readonly kind: VirtualKind
  /** Runs the kind's own create with its services. */
  create(object: KubeObject, context: RequestContext): Promise<KubeObject>
}

/** A write whose options are known. */
export interface Write {
  readonly request: ApiRequest
  readonly context: RequestContext
  readonly options: WriteOptions
  readonly kind: KindInfo
}

export type StoredWrite = Write & StoredCall & { readonly context: RequestContext }

/** The handler of a verb. */
export interface Handler<C extends Call> {
  readonly verb: StoredVerb
  handle(call: C): Promise<ApiResponse>
}
