/** Tells whether the window is as narrow as that of a phone. */
import { useEffect, useState } from 'preact/hooks'

export function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 720px)'))
  const [isNarrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const follow = () => setNarrow(query.matches)
    query.addEventListener('change', follow)
    return () => query.removeEventListener('change', follow)
  }, [query])
  return isNarrow
}
