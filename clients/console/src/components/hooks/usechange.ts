/** Runs the change that a dialog is for: one at a time, with its error. */
import { useRef, useState } from 'preact/hooks'

export interface Change {
  isBusy: boolean
  error?: unknown
  run(): Promise<void>
}

/** `onDone` is called with the answer. The dialog may be gone afterwards. */
export function useChange<T>(change: () => Promise<T>, onDone: (answer: T) => unknown): Change {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const running = useRef(false)
  return {
    isBusy,
    error,
    async run() {
      if (running.current) return
      running.current = true
      setBusy(true)
      setError(undefined)
      try {
        await onDone(await change())
      } catch (failure) {
        setError(failure)
      }
      running.current = false
      setBusy(false)
    },
  }
}
