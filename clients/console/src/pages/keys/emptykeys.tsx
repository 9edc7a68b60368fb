import type { ComponentChildren } from 'preact'
import { Code } from '../../components/code.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useSession } from '../../session/session.ts'
import { hrefOf } from '../../text/routes.ts'

/** Says what a key is, and how to make one, when there are none to see. */
export const NoKeys = ({ action }: { action: ComponentChildren }) => (
  <Empty title="There are no keys yet">
    <p>
      An access key lets a CI job or another program use this API and its clusters. You decide what it may do, from
      where, and for how long.
    </p>
    {action}
    <p>Or make one in a terminal, such as this one for a job of project shop:</p>
    <Code title="Command line" text="keyplane keys create shop-ci --project shop --ttl 30d" />
  </Empty>
)

/** Says what to do when the key of the session may not list keys. */
export function NotAllowed({ message }: { message: string }) {
  const { accessKey } = useSession().self
  return (
    <Empty title="Your access key may not list keys">
      <p>
        Its scope does not cover that. To see all your keys, sign in with a key that has no scope, or one with the role
        platformCLI.
      </p>
      <p>
        <a class="button primary" href={hrefOf('keys', [accessKey])}>
          Show the key that you use
        </a>
      </p>
      <p class="muted">
        The server says: <Foreign text={message} />
      </p>
    </Empty>
  )
}
