import { ApiError } from '../api/status.ts'
import { Empty } from './empty.tsx'
import { Foreign } from './foreign.tsx'
import { Fresh, type FreshProps } from './page.tsx'

/** Shows a list of what is called `what`, or says what to do when the scope of the key of the session does not cover it. */
export function FreshList<T>({ what, ...fresh }: FreshProps<T> & { what: string }) {
  const { data, error } = fresh.query
  if (data !== undefined || !(error instanceof ApiError) || error.code !== 403) return <Fresh {...fresh} />
  return (
    <Empty title={`Your access key may not list ${what}`}>
      <p>Its scope does not cover that. Sign in with a key without a scope.</p>
      <p class="muted">
        The server says: <Foreign text={error.message} />
      </p>
    </Empty>
  )
}
