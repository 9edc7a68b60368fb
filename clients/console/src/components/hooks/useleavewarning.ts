import { useLayoutEffect } from 'preact/hooks'

/** Lets the browser ask before the person leaves the console, while something would be lost. */
export function useLeaveWarning(isNeeded = true): void {
  useLayoutEffect(() => {
    if (!isNeeded) return
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    window.addEventListener('beforeunload', ask)
    return () => window.removeEventListener('beforeunload', ask)
  }, [isNeeded])
}
