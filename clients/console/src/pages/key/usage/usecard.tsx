import type { AccessKey } from '../../../../../core/src/objects.ts'
import { type KeyUsage, noRequestsWords, requestsIn, type UsageEntry } from '../../../../../core/src/usage.ts'
import { Badge } from '../../../components/badge.tsx'
import { Foreign } from '../../../components/foreign.tsx'
import type { Query } from '../../../session/usequery.ts'
import { Bullets } from './bullets.tsx'
import { ReadCard } from './readcard.tsx'
import { clusterWords, type LineWords, lineWords, onDay, recordingWords } from './usedlines.ts'

/** Says which lines of its scope the key used, in which clusters, and for which requests. */
export const UseCard = ({ accessKey, reading }: { accessKey: AccessKey; reading: Query<KeyUsage> }) => (
  <ReadCard title="Use" reading={reading}>
    {(usage) => (
      <>
        {recordingWords(usage).map((words) => (
          <p class="hint" key={words}>
            {words}
          </p>
        ))}
        <Lines lines={lineWords(usage.lines ?? [], accessKey.spec.scope)} />
        {usage.clusters && usage.clusters.length > 0 && (
          <>
            <h3>Clusters</h3>
            <Bullets texts={usage.clusters.map(clusterWords)} />
          </>
        )}
        <Requests accessKey={accessKey} usage={usage} />
      </>
    )}
  </ReadCard>
)

function Lines({ lines }: { lines: readonly LineWords[] }) {
  if (lines.length === 0) return <p>No line of a scope limits the key, so there are no unused lines.</p>
  return (
    <>
      <h3>Lines of the scope</h3>
      <ul class="lines">
        {lines.map(({ line, words, state, stateWords }) => (
          <li key={line}>
            <Foreign text={words} />
            <Badge tone={TONES[state]} text={stateWords} />
          </li>
        ))}
      </ul>
    </>
  )
}

const TONES = { Used: 'good', Unused: 'warn', Unknown: 'plain' } as const

/** More are shown only to whoever asks for them. */
const FIRST = 10

function Requests({ accessKey, usage }: { accessKey: AccessKey; usage: KeyUsage }) {
  const { done, refused } = requestsIn(usage)
  return (
    <>
      <h3>Requests, and when each was last made</h3>
      {done.length === 0 ? <p class="muted">{noRequestsWords(accessKey, usage)}</p> : <RequestList entries={done} />}
      {refused.length > 0 && (
        <>
          <h3>Asked for, refused by the scope</h3>
          <RequestList entries={refused} />
        </>
      )}
      {usage.refusedMore && <p class="hint">The scope refused more kinds of requests than are recorded.</p>}
    </>
  )
}

function RequestList({ entries }: { entries: readonly UsageEntry[] }) {
  const list = (some: readonly UsageEntry[]) => (
    <ul class="requests">
      {some.map(({ request, scope, lastUsed }) => (
        <li key={`${request} ${JSON.stringify(scope)}`}>
          <Foreign text={request} /> <span class="muted">{onDay(lastUsed)}</span>
        </li>
      ))}
    </ul>
  )
  return (
    <>
      {list(entries.slice(0, FIRST))}
      {entries.length > FIRST && (
        <details>
          <summary>{entries.length - FIRST} more</summary>
          {list(entries.slice(FIRST))}
        </details>
      )}
    </>
  )
}
