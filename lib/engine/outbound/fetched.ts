/** Keeps what another service has answered in memory. Concurrent callers share one request. */

/** How long a value is used, in milliseconds. */
interface Lifetime {
  /** How long it is returned without another request. Absent: as long as the process lives. */
  freshMs?: number
  /** How long it is returned while it cannot be fetched again. Absent: only while it is fresh. */
  staleMs?: number
  /** Wait between a failed request and the next one, while a stale value is used. */
  retryMs?: number
  now?(): number
}

export interface Fetched<T> {
  /** Returns the value, which is fetched unless it is fresh. Failures are not kept. */
  get(): Promise<T>
  /** Fetches the value. */
  refresh(): Promise<T>
}

/** Returns a function that shares the result of `work` between those who call it while it runs. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined
  return () => {
    running ??= work().finally(() => {
      running = undefined
    })
    return running
  }
}

/** Returns a value that `fetch` returns, and that is kept. */
export function keepFetched<T>(fetch: () => Promise<T>, lifetime: Lifetime = {}): Fetched<T> {
  const { freshMs = Number.POSITIVE_INFINITY, staleMs = 0, retryMs = 0, now = () => 0 } = lifetime
  let kept: { value: T; fetched: number; askAgain: number } | undefined
  const refresh = shared(async () => {
    const value = await fetch()
    kept = { value, fetched: now(), askAgain: now() + freshMs }
    return value
  })
  return {
    refresh,
    async get() {
      if (kept && now() < kept.askAgain) return kept.value
      try {
        return await refresh()
      } catch (error) {
        if (!kept || now() - kept.fetched >= staleMs) throw error
        kept.askAgain = now() + retryMs
        return kept.value
      }
    },
  }
}
