/**
 * Shows a value that the server returns only once. It is kept above the session: the value stays on the screen until the person
 * has stored it, also if the session ends meanwhile.
 */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

export interface Revealed {
  /** Such as `The key of ci-abc12`. */
  title: string
  /** Name of the object, for file names and commands. */
  name: string
  value: string
  /** What to do with it, in one or two sentences. */
  explanation: string
  /** Whether it is a token of another system, which is not an access key. */
  isToken?: true
  /** Address of the page to open afterwards. */
  next?: string
}

export const RevealContext = createContext<(revealed: Revealed) => void>(() => {})

/** Returns the function that shows a value. */
export const useReveal = (): ((revealed: Revealed) => void) => useContext(RevealContext)
