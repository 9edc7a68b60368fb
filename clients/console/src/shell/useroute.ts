import { useEffect, useState } from 'preact/hooks'
import { type Route, routeOf } from '../text/routes.ts'

/** Returns the current route, and follows the address. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => routeOf(location.hash))
  useEffect(() => {
    const follow = () => setRoute(routeOf(location.hash))
    window.addEventListener('hashchange', follow)
    return () => window.removeEventListener('hashchange', follow)
  }, [])
  return route
}
