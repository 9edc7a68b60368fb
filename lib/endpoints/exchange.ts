/** One request on its way through the stages of its verb: each stage reads what the ones before it have put here. */
import type { Attributes } from '../authorization/attributes/attributes.ts'
import type { KubeObject } from '../meta/types.ts'
import type { RequestContext, StoredKind, StoredVerb, VirtualKind } from '../registry/kind.ts'
import type { Store } from '../registry/store.ts'
import type { Output } from './negotiation/accept.ts'
import type { ListOptions, WriteOptions } from './options.ts'
import type { ApiRequest, ApiResponse } from './request.ts'

/** What the endpoints need of the rest of the server. */
export interface EndpointServices {
  /** Throws 403 unless the scope chain allows these attributes: for what only the handler can see (an apply that creates). */
  demandChain(context: RequestContext, attributes: Attributes): void
  /**
   * The generation of the key of this request while it gives access; undefined once it does not. What goes on for long asks
   * again: a key of another generation has another value, user or scope than the request was allowed with.
   */
  keyGeneration(context: RequestContext): Promise<number | undefined>
  /** Counts a watch of the key of this request. Throws 429 where it has as many open as one key may have. */
  openWatch(context: Pick<RequestContext, 'user'>): Promise<OpenWatch>
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>
  /** Does something every so many milliseconds, until the function that it returns is called. */
  every(ms: number, act: () => void): () => void
  /** Milliseconds on a clock that never goes back. */
  elapsed(): number
}

/** A watch that is counted until it is closed, or has not been kept open for a minute: its function has died. */
export interface OpenWatch {
  /** To be called all the time; writes only now and then. */
  keep(): Promise<void>
  /** Never rejects. */
  close(): Promise<void>
}

export interface Exchange {
  request: ApiRequest
  context: RequestContext
  warnings: string[]
  services: EndpointServices
  output?: Output
  writeOptions?: WriteOptions
  listOptions?: ListOptions
  response?: ApiResponse
}

export interface StoredExchange extends Exchange {
  kind: StoredKind
  store: Store
}

export interface VirtualExchange extends Exchange {
  kind: VirtualKind
  /** The kind's own create, with its services. */
  create(object: KubeObject): Promise<KubeObject>
}

/** A step of a pipeline. */
export type Stage<E extends Exchange> = (exchange: E) => void | Promise<void>

/** The stages of a verb, in their order. */
export interface Pipeline<E extends Exchange> {
  verb: StoredVerb
  stages: readonly Stage<E>[]
}

export type StoredPipeline = Pipeline<StoredExchange>
export type VirtualPipeline = Pipeline<VirtualExchange>

/** What an earlier stage has put there; its absence is a mistake in the order of stages. */
export function set<T>(value: T | undefined, name: string): T {
  if (value === undefined) throw new Error(`the stage that sets ${name} did not run`)
  return value
}
