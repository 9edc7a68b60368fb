/** Declares how what keys do is recorded. The code that does it is loaded with the first use of a key. */
import type { Attributes } from '../../authorization/attributes/attributes.ts'
import type { ScopeChain } from '../../authorization/scopes/scope.ts'
import type { UsedPlace } from '../../authorization/usage/usedentry.ts'

/** A key, and the generation of its spec: another scope may tell names apart. */
export interface UsedKey {
  uid: string
  generation?: number | undefined
}

export interface UsageRecorder {
  /** Records a request that the chain of a key allowed, here or at the cluster that asked. Never rejects. */
  used(key: UsedKey, chain: ScopeChain, attributes: Attributes, place?: UsedPlace): Promise<void>
  /**
   * Records a request that the chain of a key refused, here or at the cluster that asked. `isLive` says whether the key gives access; it is
   * asked only before something is written. Never rejects.
   */
  refused(
    key: Pick<UsedKey, 'uid'>,
    chain: ScopeChain,
    attributes: Attributes,
    place?: UsedPlace,
    isLive?: () => Promise<boolean>,
  ): Promise<void>
  /** Records that a cluster accepted a key by itself. Never rejects. */
  accepted(key: UsedKey, place: UsedPlace): Promise<void>
}

/** Returns a recorder that loads another one with its first call. */
export const lazyUsage = (load: () => Promise<UsageRecorder>): UsageRecorder => ({
  used: async (...use) => (await load()).used(...use),
  refused: async (...use) => (await load()).refused(...use),
  accepted: async (...use) => (await load()).accepted(...use),
})

/** Records nothing. */
export const noUsage: UsageRecorder = { used: async () => {}, refused: async () => {}, accepted: async () => {} }
