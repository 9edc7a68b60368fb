/** Runs functions on timers, in place of EventBridge schedules and table streams. */

export interface Timer {
  seconds: number
  /** Must not reject: the caller reports errors. */
  fire(): Promise<void>
}

/** Runs each task first after its interval and never twice at once. `stop` resolves when running tasks have finished. */
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
