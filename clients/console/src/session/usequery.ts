/** Reads data for a component and keeps it fresh. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { createPoller, type Poller, type Snapshot, type Surroundings } from '../api/poller.ts'
import { type Session, useSession } from './session.ts'

/** The focus, the visibility and the timers of the browser. */
const browser: Surroundings = {
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

export interface Query<T> extends Snapshot<T> {
  /** Reads now, for example after an own change. Never rejects. */
  refresh(): Promise<void>
}

/**
 * Reads data now, and again `every` milliseconds while the page has the focus. `name` identifies the data in the cache of the
 * session: with another name it starts anew, and a page that is shown again starts with what it knew.
 */
export function useQuery<T>(
  name: string,
  load: (session: Session, signal: AbortSignal, onPart: (part: T) => void) => Promise<T>,
  every = 15_000,
): Query<T> {
  const session = useSession()
  const [, redraw] = useState(0)
  const latest = useRef(load)
  latest.current = load
  const poller = useRef<Poller<T>>(undefined)
  const known = session.cache.get(name) as Snapshot<T> | undefined
  useEffect(() => {
    const own = createPoller<T>({
      load: (signal, onPart) => latest.current(session, signal, onPart),
      every,
      ...(known && { start: known }),
      onChange(snapshot) {
        session.cache.set(name, snapshot)
        redraw((count) => count + 1)
      },
      surroundings: browser,
    })
    poller.current = own
    return () => own.stop()
  }, [session, name, every])
  return { isLoading: true, ...known, refresh: () => poller.current?.refresh() ?? Promise.resolve() }
}
