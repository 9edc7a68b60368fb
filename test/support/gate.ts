/** Holds operations on a table until the test releases them. */
import type { Items } from '../../lib/engine/storage/items.ts'

export type Operation = Exclude<keyof Items, 'limits'>

export interface Gate {
  /** Returns items whose operations the gate can hold. */
  around(items: Items): Items
  /** Holds every operation of this name until `open`; resolves when the first one has arrived. */
  hold(operation: Operation): { arrived: Promise<void>; open(): void }
}

export function makeGate(): Gate {
  let held: { operation: Operation; arrive(): void; opened: Promise<void> } | undefined
  return {
    around: (items) =>
      new Proxy(items, {
        get(target, name: keyof Items) {
          if (name === 'limits') return target.limits
          return async (...args: unknown[]) => {
            if (held?.operation === name) {
              held.arrive()
              await held.opened
            }
            return (target[name] as (...args: unknown[]) => unknown)(...args)
          }
        },
      }),
    hold(operation) {
      const arrived = Promise.withResolvers<void>()
      const opened = Promise.withResolvers<void>()
      held = { operation, arrive: arrived.resolve, opened: opened.promise }
      const open = () => {
        held = undefined
        opened.resolve()
      }
      return { arrived: arrived.promise, open }
    },
  }
}
