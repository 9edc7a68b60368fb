/** Ends a session that is over: after the idle time without input, and when its key expires. */
import { distance } from '../text/times.ts'
import { tabStorage } from './browserstorage.ts'
import { IDLE_MS, keepKey } from './keptkey.ts'
import type { SessionEnd, SignIn } from './session.ts'

const CHECK_MS = 10_000
const INPUTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

export interface Ends {
  /** Ends the session, and the key if it was made for the session. */
  leave(reason: SessionEnd): void
  /** Ends the session alone. */
  finish(reason: SessionEnd): void
}

/**
 * Observes the session until the returned function is called, and notes the last input beside a key that is kept. `given` has no
 * key from the moment at which the session ends, so that nothing keeps it again.
 */
export function watchEnd(given: { readonly current?: SignIn | undefined }, { leave, finish }: Ends): () => void {
  let seen = Date.now()
  /** Ends the session if it is over, and reports whether it is. */
  const isOver = (): boolean => {
    const now = Date.now()
    const { ends = Number.POSITIVE_INFINITY } = given.current ?? {}
    // The clock may be set back.
    seen = Math.min(seen, now)
    if (ends <= now) finish({ title: 'Your session has ended: its access key has expired.', details: [] })
    else if (now - seen >= IDLE_MS)
      leave({ title: `You were signed out after ${distance(IDLE_MS)} without input.`, details: [] })
    else return false
    return true
  }
  // On a device that slept, the first input comes before any timer.
  const input = () => {
    if (!isOver()) seen = Date.now()
  }
  const check = () => {
    if (!isOver() && given.current?.keep) keepKey(tabStorage, { ...given.current, seen })
  }
  for (const name of INPUTS) window.addEventListener(name, input, { passive: true })
  const timer = setInterval(check, CHECK_MS)
  document.addEventListener('visibilitychange', check)
  return () => {
    for (const name of INPUTS) window.removeEventListener(name, input)
    clearInterval(timer)
    document.removeEventListener('visibilitychange', check)
  }
}
