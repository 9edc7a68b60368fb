/** The browser as a poller sees it. */
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
