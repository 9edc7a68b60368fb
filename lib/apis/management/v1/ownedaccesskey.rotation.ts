/** Makes the strategy with which the server itself changes the values of an access key: a rotation, or a report of a leak. */
import { decodeKeyInternal, type KeyInternal } from '../../../authentication/keyinternal.ts'
import type { ValuesChange } from '../../../authentication/values/keyvalues.ts'
import type { Draft, RequestContext, Strategy } from '../../../registry/kind.ts'
import type { Companion, Stored } from '../../../storage/interface.ts'
import { applyChange } from './ownedaccesskey.credential.ts'

export interface ValuesUpdate {
  /**
   * Returns the change of the values, or undefined for none. `settled` is the internal part after the open rotation was
   * settled. Runs again after a lost race. Throws a StatusError to refuse the update.
   */
  change(
    settled: KeyInternal,
    objects: { draft: Draft; old: Stored; context: RequestContext },
  ): ValuesChange | undefined | Promise<ValuesChange | undefined>
  /** Items to write in the transaction of the key, such as a signal. */
  companions?(): readonly Companion[] | Promise<readonly Companion[]>
  /** Replaces the admission of a change of the spec by the user. */
  authorize?: Strategy['authorize']
}

/** Returns the strategy for one update of an access key that changes its values. Use it with `updateObject`. */
export function changeValuesStrategy(strategy: Strategy, update: ValuesUpdate): Strategy {
  return {
    ...strategy,
    async prepareForUpdate(draft, old, context) {
      await strategy.prepareForUpdate?.(draft, old, context)
      const change = await update.change(decodeKeyInternal(draft.internal), { draft, old, context })
      if (change) applyChange(draft, change)
    },
    ...(update.authorize && { authorize: update.authorize }),
    companions: async (after, before) => [
      ...((await strategy.companions?.(after, before)) ?? []),
      ...((await update.companions?.()) ?? []),
    ],
  }
}
