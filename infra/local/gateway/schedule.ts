/** Fires functions on timers: EventBridge rates, and in place of table streams. */

export interface Timer {
  seconds: number
  /** Its errors are the caller's to report: it must not reject. */
  fire(): Promise<void>
}

/** Each fires a first time after its interval, never twice at once. `stop` resolves when what is running is done. */
export function startTimers(timers: readonly Timer[]): { stop(): Promise<void> } {
  let stopped = false
  const pending = new Map<Timer, { timeout?: NodeJS.Timeout; running?: Promise<void> }>()
  const arm = (timer: Timer) => {
    const timeout = setTimeout(async () => {
      const running = timer.fire()
      pending.set(timer, { running })
      await running
      if (!stopped) arm(timer)
    }, timer.seconds * 1000)
    pending.set(timer, { timeout })
  }
  for (const timer of timers) arm(timer)
  return {
    async stop() {
      stopped = true
      for (const { timeout } of pending.values()) clearTimeout(timeout)
      await Promise.all([...pending.values()].map(({ running }) => running))
    },
  }
}
