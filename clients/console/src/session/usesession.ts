/** Opens, keeps and ends the session of the tab. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { createApi } from '../api/client.ts'
import { freshWarnings } from '../api/freshwarnings.ts'
import type { Self } from '../api/objects.ts'
import { paths } from '../api/paths.ts'
import { apiRoot } from '../api/root.ts'
import { ApiError, errorWords } from '../api/status.ts'
import { forgetKey, IDLE_MS, keepKey, keptKey } from './keptkey.ts'
import { useNotify } from './notices.ts'
import type { Session, SessionEnd } from './session.ts'

export interface SignIn {
  key: string
  /** Keep the key over a reload of this tab. */
  keep: boolean
  isExchanged?: boolean
}

export interface SessionControl {
  session?: Session
  /** Whether the key of before a reload is being checked. */
  isRestoring: boolean
  /** Why the last session ended. */
  end?: SessionEnd
  /** Throws an ApiError or NetworkError if the key is not accepted. */
  signIn(given: SignIn): Promise<void>
}

const IDLE_CHECK_MS = 10_000
const INPUTS = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const

export function useSessionControl(): SessionControl {
  const [session, setSession] = useState<Session>()
  const [end, setEnd] = useState<SessionEnd>()
  const [isRestoring, setRestoring] = useState(() => keptKey(sessionStorage, new Date()) !== undefined)
  const notify = useNotify()
  const kept = useRef<SignIn | undefined>(undefined)

  const finish = useCallback((reason?: SessionEnd) => {
    forgetKey(sessionStorage)
    kept.current = undefined
    setSession(undefined)
    setEnd(reason)
  }, [])

  const signIn = useCallback(
    async (given: SignIn) => {
      const { key, isExchanged = false } = given
      const settings = { root: apiRoot, key }
      const { status: self } = await createApi(settings).send<{ status: Self }>(paths.selves, {
        method: 'POST',
        body: {},
      })
      const api = createApi({
        ...settings,
        // A late answer to an earlier session must not end this one.
        onEnd(detail) {
          if (kept.current === given) finish({ title: 'Your access key is no longer valid.', detail })
        },
        onWarnings: freshWarnings((text) => notify({ tone: 'warn', text })),
      })
      kept.current = given
      if (given.keep) keepKey(sessionStorage, { key, isExchanged, seen: Date.now() })
      setEnd(undefined)
      setSession({ api, self, isExchanged, cache: new Map(), signOut: () => finish() })
    },
    [finish, notify],
  )

  const restore = useCallback(async () => {
    const restored = keptKey(sessionStorage, new Date())
    setRestoring(restored !== undefined)
    try {
      if (restored) await signIn({ ...restored, keep: true })
      else finish()
    } catch (error) {
      const { title, details } = errorWords(error)
      const [detail] = details
      const words = { title, ...(detail !== undefined && { detail }) }
      // The server may answer later. A key that it has refused is forgotten.
      if (error instanceof ApiError && error.code === 401) finish(words)
      else setEnd({ ...words, retry: () => void restore() })
    }
    setRestoring(false)
  }, [signIn, finish])

  // A session that is kept begins without the person.
  useEffect(() => {
    if (isRestoring) void restore()
  }, [])

  useEffect(() => (session ? endWhenIdle(kept, finish) : undefined), [session, finish])

  return { ...(session && { session }), isRestoring, ...(end && { end }), signIn }
}

/** Ends the session after the idle time without input. Returns a function that ends the observation. */
function endWhenIdle(kept: { current?: SignIn | undefined }, finish: (reason: SessionEnd) => void): () => void {
  let seen = Date.now()
  const input = () => {
    seen = Date.now()
  }
  const check = () => {
    if (Date.now() - seen >= IDLE_MS) {
      finish({ title: 'You were signed out after 15 minutes without input.' })
    } else if (kept.current?.keep) {
      const { key, isExchanged = false } = kept.current
      keepKey(sessionStorage, { key, isExchanged, seen })
    }
  }
  for (const name of INPUTS) window.addEventListener(name, input, { passive: true })
  const timer = setInterval(check, IDLE_CHECK_MS)
  document.addEventListener('visibilitychange', check)
  return () => {
    for (const name of INPUTS) window.removeEventListener(name, input)
    clearInterval(timer)
    document.removeEventListener('visibilitychange', check)
  }
}
