import { useEffect, useState } from 'preact/hooks'

/** Reports whether the window is at most 720 px wide, as on a phone. */
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
