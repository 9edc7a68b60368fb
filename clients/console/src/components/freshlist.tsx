import type { ComponentChildren } from 'preact'
import { ApiError } from '../api/status.ts'
import type { Polled } from '../session/usepolled.ts'
import { Empty } from './empty.tsx'
import { Foreign } from './foreign.tsx'
import { Fresh } from './page.tsx'

/** Shows a list of what is called `what`, or says what to do when the scope of the key of the session does not cover it. */
export function FreshList<T>({
  what,
  ...fresh
}: {
  polled: Polled<T>
  what: string
  children(data: T): ComponentChildren
}) {
  const { data, error } = fresh.polled
  if (data !== undefined || !(error instanceof ApiError) || error.code !== 403) return <Fresh {...fresh} />
  return (
    <Empty title={`Your access key may not list ${what}`}>
      <p>Its scope does not cover that. To see everything that you may see, sign in with a key that has no scope.</p>
      <p class="muted">
        The server says: <Foreign text={error.message} />
      </p>
    </Empty>
  )
}
