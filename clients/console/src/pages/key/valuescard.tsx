import type { AccessKey, KeyValue } from '../../../../core/src/objects.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Time } from '../../components/time.tsx'
import { valuesOf } from './rotation/rotation.ts'

const STATES: Readonly<Record<string, { tone: 'good' | 'warn'; words: string }>> = {
  Current: { tone: 'good', words: 'works' },
  Pending: { tone: 'warn', words: 'works, and becomes the current one at its first use' },
  Retiring: { tone: 'warn', words: 'works until it ends' },
}

/** The values of the key that have not ended, in words. The values themselves are known to their holders only. */
export function ValuesCard({ accessKey }: { accessKey: AccessKey }) {
  const { spec, status } = accessKey
  // The pending value of a leaked key works as soon as the key is enabled.
  const isActive = status?.phase === 'Active' || (status?.phase === 'Leaked' && !spec.disabled)
  const values = valuesOf(accessKey)
  return (
    <section class="card" aria-labelledby="values">
      <h2 id="values">Values</h2>
      <p class="hint">
        The bearer tokens of this key. The server stores only their hashes, so they cannot be shown here.
      </p>
      {values.length === 0 && <p>The key has no value that works: its last one was reported as leaked.</p>}
      <ul class="values">
        {values.map((value) => (
          <li key={value.state}>
            <p>
              <Badge tone={isActive ? (STATES[value.state]?.tone ?? 'plain') : 'plain'} text={value.state} />{' '}
              {value.hint && (
                <code>
                  …<Foreign text={value.hint} />
                </code>
              )}
            </p>
            <p>
              <Words value={value} isActive={isActive} />
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

const Words = ({ value: { state, made, lastActivity, until }, isActive }: { value: KeyValue; isActive: boolean }) => (
  <>
    {isActive ? STATES[state]?.words : 'does not work, because the key is not active'}
    {made && (
      <>
        {' · made '}
        <Time at={made} direction="past" isDated />
      </>
    )}
    {' · '}
    {lastActivity ? (
      <>
        last used <Time at={lastActivity} direction="past" isDated />
      </>
    ) : (
      'not used yet'
    )}
    {until && (
      <>
        {' · ends '}
        <Time at={until} direction="future" isDated />
      </>
    )}
  </>
)
