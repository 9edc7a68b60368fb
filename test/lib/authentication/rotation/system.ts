/**
 * Declares what the roles of a schedule can do with one access key. `real.ts` implements it with the code of lib/. Operations
 * are generators: between two steps, everybody else may do anything.
 */

/** A step may wait for a promise. Anyone who rests has no request under way. */
export type Step<T> = Generator<Promise<unknown> | 'resting' | undefined, T, unknown>

/** A request that was allowed with a value. */
export interface Allowed {
  value: string
  /** When its credential was read: unix seconds, and the step of the schedule. */
  at: number
  step: number
  /** What the system passes on to the writes of the request. */
  carried: unknown
}

export type Authenticated = Allowed | { refused: string } | { unanswered: true }

/** The outcome of a write. Unanswered: it may have happened. */
export type Answer = { done: true; value?: string } | { refused: string } | { unanswered: true }

export interface RotationRequest {
  overlap: number
  /** A value of one's own; otherwise the server makes one. */
  key?: string
  replace?: boolean
  finish?: boolean
}

/** Who sends a write: a request with a value of the key, or the owner with another key. */
export type By = Allowed | undefined

export interface System {
  authenticate(value: string): Step<Authenticated>
  rotate(by: By, request: RotationRequest): Step<Answer>
  /** Sets `spec.key`. */
  put(by: By, value: string): Step<Answer>
  setDisabled(by: By, disabled: boolean): Step<Answer>
  remove(by: By): Step<Answer>
  /** Writes another key with a value of this one. */
  writeOther(by: Allowed): Step<Answer>
  reportLeak(value: string): Step<Answer>
  /** The hourly run, which ends what is over. */
  settle(): Step<void>
  /** The hourly run, which removes keys that expired long ago. */
  sweep(): Step<void>
  /** Reports whether an open watch with this value goes on. */
  recheck(by: Allowed): Step<boolean>
  /** Judges a value while nothing else happens, and confirms nothing. */
  works(value: string): boolean | 'undecided' | Promise<boolean | 'undecided'>
  /** Returns what is wrong with the stored form. */
  inspect(): readonly string[] | Promise<readonly string[]>
}

/** A change that took effect, reported at the moment of its transaction. */
export type Event =
  | { type: 'rotated'; by: By; value: string; overlap: number; replace: boolean }
  | { type: 'finished'; by: By }
  /** The first use of a pending value, at the time that the overlap counts from. */
  | { type: 'first-used'; value: string; at: number }
  | { type: 'touched'; at: number }
  | { type: 'put'; by: By; value: string }
  | { type: 'disabled'; by: By; disabled: boolean }
  | { type: 'removed'; by: By }
  | { type: 'swept' }
  /** What ends with a reported value. */
  | { type: 'leaked'; value: string; ended: readonly string[] }
  | { type: 'wrote-other'; by: Allowed }
  | { type: 'settled' }

/** The life of the key of a schedule. All times are unix seconds. */
export interface Life {
  created: number
  ttl?: number
  sliding: boolean
}

/** What a system learns from its schedule. */
export interface World {
  life: Life
  first: string
  /** Unix seconds. */
  now(): number
  step(): number
  chance(probability: number): boolean
  newValue(): string
  happened(event: Event): void
}

/** How long a request may last. */
export const requestSeconds = 30
/** The age at which a job may replace the pending value of another one. */
export const replaceSeconds = 3600
/** How long expired keys and tombstones are kept. */
export const retentionSeconds = 2 * 86_400
