/** Declares what the publisher of events works with. */

import type { Deadline } from '../../engine/meta/errors/deadline.ts'
import type { HasTime } from '../../engine/registry/parallel.ts'
import type { Store } from '../../engine/registry/store.ts'
import type { Storage } from '../../engine/storage/interface.ts'
import type { GateKind } from '../credential/gates.ts'
import type { LifeLimits } from '../credential/keystatus.ts'
import type { KeyEvent, KeyOccurrence } from './event.ts'

export interface Lifecycle {
  /** The store of the kind whose objects are keys. */
  store: Store
  storage: Storage
  limits: LifeLimits
  /** After how many seconds without a use keys end. 0: never. */
  maxIdleSeconds: number
  /** Whether the process is new: then the settings may have changed. */
  isNew: boolean
  /** Whether the history of a key may say from which addresses it was used. */
  recordSources: boolean
  now(): Date
  /** Yields the uids of the keys that came through a trust or an identity provider. Throws OutOfTime. */
  keysThrough(gate: { kind: GateKind; uid: string; name: string }): AsyncIterable<string>
  hasTime: HasTime
  deadline: Deadline
  /** The `source` of the events: the issuer. */
  source: string
  /** Returns when the bus has accepted the events, or refuses them permanently. */
  publish(events: readonly KeyEvent[]): Promise<void>
  /** Called when Secrets in clusters may be due for removal. Their function looks every minute in any case. */
  wake(): Promise<void>
  /** Called before changes are skipped, because the log no longer reaches back to them. */
  lost(since: number, to: number): void
}

/** Returns when the bus has accepted the events of what happened. */
export type Send = (all: readonly KeyOccurrence[]) => Promise<void>
