import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { runLater, runSlice, type Steps, type Surroundings } from '../../keylist/slices.ts'

const browser: Surroundings = {
  clock: () => performance.now(),
  later: (run) => void setTimeout(run),
  afterFrame: (run) => void requestAnimationFrame(() => setTimeout(run)),
}

/**
 * Returns what the computation for these inputs has found or, while it runs, what the last one has. What takes one slice is there at
 * once. With other inputs a computation is given up.
 */
export function useSliced<T>(begin: () => Steps<T>, inputs: readonly unknown[]): T | undefined {
  const last = useRef<T>(undefined)
  const [, redraw] = useState(0)
  const [steps, first] = useMemo(() => {
    const begun = begin()
    return [begun, runSlice(begun, browser.clock)]
  }, inputs)
  if (first) last.current = first.value
  useEffect(() => {
    if (first) return
    return runLater(steps, browser, (value) => {
      last.current = value
      redraw((count) => count + 1)
    })
  }, [steps, first])
  return last.current
}
