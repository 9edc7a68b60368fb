/** What a page knows of the person who is signed in. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Self } from '../../../core/src/objects.ts'
import type { Api } from '../api/client.ts'
import type { Snapshot } from '../api/poller.ts'
import type { ErrorWords } from '../api/status.ts'

export interface Session {
  api: Api
  self: Self
  /** When the key expires, in milliseconds, if the identity provider was used to sign in. Signing out ends such a key. */
  ends?: number
  /** Leaves for the identity provider and comes back to the same page. Throws a KnownError if it cannot be used. */
  signInAgain?(): Promise<void>
  /** What pages have read, by name, so that going back shows it at once. Ends with the session. */
  cache: Map<string, Snapshot<unknown>>
  signOut(): void
  /** Goes on with a new value of the same key. Throws an ApiError or NetworkError if it is not accepted: the old one stays. */
  goOn(key: string): Promise<void>
}

/** What a session begins with. */
export interface SignIn {
  key: string
  /** Keep the key over a reload of this tab. */
  keep: boolean
  /** When the key expires, in milliseconds, if an exchange made it. */
  ends?: number
  /** Identifies the session, also in copies of the tab. A new session gets one. */
  id?: string
}

/** Why there is no session. */
export interface SessionEnd extends ErrorWords {
  /** Tries again with the key of before the reload, which is still kept. */
  retry?(): void
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** Returns the session. Only for components of pages, which are shown to signed-in people alone. */
export function useSession(): Session {
  const session = useContext(SessionContext)
  if (!session) throw new Error('no session')
  return session
}
