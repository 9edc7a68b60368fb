import { useState } from 'preact/hooks'
import { type Session, useSession } from '../../../session/session.ts'

const opened = new WeakMap<Session, Set<string>>()

/**
 * Returns whether the steps of the rotation of a key are open, and opens them. They stay open until the session ends: a request may
 * have lost its answer.
 */
export function useOpened(uid: string): [isOpen: boolean, open: () => void] {
  const session = useSession()
  const uids = opened.get(session) ?? new Set<string>()
  opened.set(session, uids)
  const [, show] = useState(0)
  return [uids.has(uid), () => show(uids.add(uid).size)]
}
