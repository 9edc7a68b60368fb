/** Gives components the function that shows a value once. */
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import { type Session, useSession } from './session.ts'
import type { Revealed } from './values.ts'

export const RevealContext = createContext<(session: Session, revealed: Revealed) => void>(() => {})

/** Returns the function that shows a value to the person of this session. */
export function useReveal(): (revealed: Revealed) => void {
  const session = useSession()
  const reveal = useContext(RevealContext)
  return (revealed) => reveal(session, revealed)
}
