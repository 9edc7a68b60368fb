import { MINUTE_MS } from '../../../../lib/engine/meta/value/durations.ts'
import { useNow } from '../components/hooks/usenow.ts'
import { InPlace, part } from '../components/part.tsx'
import { useSession } from '../session/session.ts'

/** How long before its end a session says so. */
const NEAR_MS = 5 * MINUTE_MS

const notice = part(async () => (await import('./endingnotice.tsx')).EndingNotice)

/** Says that the session ends soon. */
export function Ending() {
  const { ends } = useSession()
  const now = useNow()
  if (ends === undefined || ends - now.getTime() > NEAR_MS) return null
  return (
    <div class="ending">
      <InPlace of={notice} what="That the session ends soon" ends={ends} now={now} />
    </div>
  )
}
