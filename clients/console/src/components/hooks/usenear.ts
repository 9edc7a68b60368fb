/** Tells whether a part of a long page is near what is visible, so that the others need not be drawn. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** So far around the window is near, in pixels: what the next turn of a wheel shows. */
const MARGIN = '800px 0px'

export interface Near<T> {
  ref: RefObject<T | null>
  isNear: boolean
  /** The height in pixels that the part had when it was drawn last. */
  height: number | undefined
}

/** A part that has the focus is near, wherever it is: the keyboard goes on from there. */
export function useNear<T extends Element>(isNearAtFirst: boolean): Near<T> {
  const ref = useRef<T>(null)
  const [state, setState] = useState<{ isNear: boolean; height?: number }>({ isNear: isNearAtFirst })
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new IntersectionObserver(
      (entries) => {
        const isNear = entries.at(-1)?.isIntersecting === true || element.contains(document.activeElement)
        setState((before) => {
          if (before.isNear === isNear) return before
          return { isNear, height: element.getBoundingClientRect().height }
        })
      },
      { rootMargin: MARGIN },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, isNear: state.isNear, height: state.height }
}
