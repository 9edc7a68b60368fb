/** Keeps what the page shows and its address the same. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { hrefOfView, type View, viewOf } from '../../keylist/view.ts'
import { type Route, routeOf } from '../../text/routes.ts'

/** Browsers limit how often an address changes, so it follows a person who types after a pause. */
const PAUSE_MS = 300

export interface ViewControl {
  view: View
  /** Shows something else. The way back leads to what was shown before. */
  go(change: Partial<View>): void
  /** Follows the filter that a person types, as one step of the way back. */
  type(filter: string): void
  /** Writes the address now, before the person leaves the field. */
  settle(): void
}

export function useView(route: Route): ViewControl {
  const [view, setView] = useState(() => viewOf(route.query))
  const latest = useRef(view)
  latest.current = view
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const followed = useRef(route)
  // With the page, so that what a person then clicks belongs to what is shown.
  useLayoutEffect(() => {
    if (followed.current === route) return
    followed.current = route
    clearTimeout(timer.current)
    setView(viewOf(route.query))
  }, [route])
  useEffect(() => () => clearTimeout(timer.current), [])

  const show = (next: View) => {
    latest.current = next
    setView(next)
  }
  const write = (how: 'pushState' | 'replaceState') => {
    clearTimeout(timer.current)
    const { page, parts } = routeOf(location.hash)
    const href = hrefOfView(latest.current)
    // The field also loses the focus when another page takes its place. That page's address must stay.
    if (page === 'keys' && parts.length === 0 && href !== location.hash) history[how](null, '', href)
  }
  return {
    view,
    go(change) {
      write('replaceState')
      show({ ...latest.current, ...change })
      write('pushState')
    },
    type(filter) {
      const isStart = latest.current.filter === ''
      show({ ...latest.current, filter })
      if (isStart) return write('pushState')
      clearTimeout(timer.current)
      timer.current = setTimeout(() => write('replaceState'), PAUSE_MS)
    },
    settle: () => write('replaceState'),
  }
}
