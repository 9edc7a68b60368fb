import { useSession } from '../session/session.ts'
import { Notice } from './notice.tsx'

/** Warns who is about to change the key of the session. `text` says what the console does or can do then. */
export function OwnKey({ name, text }: { name: string; text: string }) {
  if (name !== useSession().self.accessKey) return null
  return (
    <Notice tone="warn" title="You are signed in with this key">
      <p>{text}</p>
    </Notice>
  )
}
