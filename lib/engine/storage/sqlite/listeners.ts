/** Tells those in this process who wait for writes to a partition. */

export interface Listeners {
  /** Calls back after each write to a partition, until the returned function is called. */
  on(pk: string, call: () => void): () => void
  /** Tells of writes that are committed. */
  tell(pks: Iterable<string>): void
}

export function listeners(): Listeners {
  const calls = new Map<string, Set<() => void>>()
  return {
    on(pk, call) {
      const others = calls.get(pk) ?? new Set()
      calls.set(pk, others.add(call))
      return () => {
        others.delete(call)
        if (others.size === 0 && calls.get(pk) === others) calls.delete(pk)
      }
    },
    tell(pks) {
      if (calls.size === 0) return
      for (const pk of new Set(pks)) for (const call of calls.get(pk) ?? []) call()
    },
  }
}
