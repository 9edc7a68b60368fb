/** Runs the change that a dialog is for: one at a time, with its error. */
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { isUncertain } from '../../api/status.ts'

export interface Change {
  isBusy: boolean
  error?: unknown
  /** What the person has to answer before it runs. */
  asked?: ComponentChildren
  run(): Promise<void>
}

/**
 * `change` is told whether the answer to an earlier attempt was lost: then that attempt may be why this one fails. `onDone` is called with
 * the answer. The dialog may be gone afterwards.
 */
export function useChange<T>(change: (wasLost: boolean) => Promise<T>, onDone: (answer: T) => unknown): Change {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const running = useRef(false)
  const wasLost = useRef(false)
  return {
    isBusy,
    error,
    async run() {
      if (running.current) return
      running.current = true
      setBusy(true)
      setError(undefined)
      try {
        await onDone(await change(wasLost.current))
      } catch (failure) {
        wasLost.current ||= isUncertain(failure)
        setError(failure)
      }
      running.current = false
      setBusy(false)
    },
  }
}
