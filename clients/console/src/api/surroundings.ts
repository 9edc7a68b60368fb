/** Gives a poller the focus, the visibility and the timers of the browser. */
import type { Surroundings } from './poller.ts'

export const browser: Surroundings = {
  isAttended: () => document.visibilityState === 'visible' && document.hasFocus(),
  onAttention(callback) {
    document.addEventListener('visibilitychange', callback)
    window.addEventListener('focus', callback)
    return () => {
      document.removeEventListener('visibilitychange', callback)
      window.removeEventListener('focus', callback)
    }
  },
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return () => clearTimeout(timer)
  },
  now: () => new Date(),
}
