/** Reads data for a component once, and again when the person asks for it: for what is not free to read. */
import { useCallback, useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../api/status.ts'
import { useSession } from '../../session/session.ts'

export interface Reading<T> {
  data?: T
  /** When the data was read. */
  at?: Date
  /** Why the last reading failed. The data before it stays. */
  error?: unknown
  isBusy: boolean
  refresh(): void
}

/** Reads the status of the object at a path of the API. */
export function useReading<T>(path: string): Reading<T> {
  const { api } = useSession()
  const [count, setCount] = useState(0)
  const [state, setState] = useState<Omit<Reading<T>, 'refresh'>>({ isBusy: true })
  useEffect(() => {
    const ended = new AbortController()
    const settle = (change: Partial<Reading<T>>) => {
      if (!ended.signal.aborted) setState(({ error: _, ...before }) => ({ ...before, ...change, isBusy: false }))
    }
    setState((before) => ({ ...before, isBusy: true }))
    api.send<{ status?: T }>(path, { signal: ended.signal }).then(
      ({ status }) => settle({ ...(status && { data: status }), at: new Date() }),
      (error: unknown) => settle({ error }),
    )
    return () => ended.abort()
  }, [path, count])
  return { ...state, refresh: useCallback(() => setCount((before) => before + 1), []) }
}

/** Reports whether the server does not know what was asked for, because it is an older one or the object is gone. */
export const isUnknown = (error: unknown): boolean => error instanceof ApiError && [404, 405].includes(error.code)
