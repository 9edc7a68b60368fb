import { useChange } from '../components/hooks/usechange.ts'
import { ErrorNotice, Notice } from '../components/notice.tsx'
import { useSession } from '../session/session.ts'
import { relative } from '../text/times.ts'

/** Says when the session ends, and offers another one. */
export function EndingNotice({ ends, now }: { ends: number; now: Date }) {
  const { signInAgain } = useSession()
  const { isBusy, error, run } = useChange(
    async () => signInAgain?.(),
    () => {},
  )
  return (
    <>
      <Notice tone="warn" title={`Your session ends ${relative(new Date(ends), now, 'future')}.`}>
        {signInAgain && (
          <>
            <p>Sign in again to continue. You come back to this page, but lose what you have typed.</p>
            <button type="button" onClick={() => void run()} disabled={isBusy}>
              Sign in again
            </button>
          </>
        )}
      </Notice>
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  )
}
