import { MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'
import { useChange } from '../components/hooks/usechange.ts'
import { useNow } from '../components/hooks/usenow.ts'
import { ErrorNotice, Notice } from '../components/notice.tsx'
import { useSession } from '../session/session.ts'
import { relative } from '../text/times.ts'

/** How long before its end a session says so. */
const NEAR_MS = 5 * MINUTE_MS

/** Says that the session ends soon, and offers another one. */
export function Ending() {
  const { ends, signInAgain } = useSession()
  const now = useNow()
  const { isBusy, error, run } = useChange(
    async () => signInAgain?.(),
    () => {},
  )
  if (ends === undefined || ends - now.getTime() > NEAR_MS) return null
  return (
    <div class="ending">
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
    </div>
  )
}
