import type { AccessKey } from '../../../../../core/src/objects.ts'
import { type KeyUsage, noRequestsWords, requestsIn, type UsageEntry } from '../../../../../core/src/usage.ts'
import { Foreign } from '../../../components/foreign.tsx'
import type { Reading } from '../../../components/hooks/usereading.ts'
import { ReadCard } from './readcard.tsx'
import { clusterWords, type LineWords, lineWords, onDay, recordingWords } from './usedlines.ts'

/** Says which lines of its scope the key used, in which clusters, and for which requests. */
export const UseCard = ({ accessKey, reading }: { accessKey: AccessKey; reading: Reading<KeyUsage> }) => (
  <ReadCard title="Use" reading={reading}>
    {(usage) => (
      <>
        {recordingWords(usage).map((words) => (
          <p class="hint" key={words}>
            {words}
          </p>
        ))}
        <Lines lines={lineWords(usage.lines ?? [], accessKey.spec.scope)} />
        <Clusters clusters={usage.clusters ?? []} />
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
            <Mark state={state} />
            <span>
              <Foreign text={words} />
              <span class="muted block">{stateWords}</span>
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

const SHAPES = {
  Used: <path d="M3 8.5l3.5 3.5L13 4.5" />,
  Unused: <circle cx="8" cy="8" r="5" />,
  Unknown: <path d="M5 6a3 3 0 1 1 4.5 2.6C8.4 9.2 8 9.7 8 10.5M8 13v.6" />,
} as const

/** The state as a shape. The words beside it say the same. */
const Mark = ({ state }: { state: LineWords['state'] }) => (
  <svg class={`mark ${state.toLowerCase()}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
    {SHAPES[state]}
  </svg>
)

function Clusters({ clusters }: { clusters: NonNullable<KeyUsage['clusters']> }) {
  if (clusters.length === 0) return null
  return (
    <>
      <h3>Clusters</h3>
      <ul class="bullets">
        {clusters.map((cluster) => (
          <li key={cluster.name}>
            <Foreign text={clusterWords(cluster)} />
          </li>
        ))}
      </ul>
    </>
  )
}

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
