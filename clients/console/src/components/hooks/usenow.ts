/** Tells all components the time at the same moment, with one timer. */
import { useEffect, useState } from 'preact/hooks'

const EVERY_MS = 30_000

const listeners = new Set<(now: Date) => void>()
let timer: ReturnType<typeof setInterval> | undefined

function tell(): void {
  const now = new Date()
  for (const listener of listeners) listener(now)
}

/** Returns the current time, and updates the component every 30 seconds. */
export function useNow(): Date {
  const [now, setNow] = useState(() => new Date())
  useEffect(() => {
    listeners.add(setNow)
    timer ??= setInterval(tell, EVERY_MS)
    return () => {
      listeners.delete(setNow)
      if (listeners.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }, [])
  return now
}
