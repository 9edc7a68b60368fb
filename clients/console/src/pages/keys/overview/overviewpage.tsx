import { useMemo } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { type Listed, MAX_LISTED } from '../../../api/lists.ts'
import { Foreign, NameLink } from '../../../components/foreign.tsx'
import { FreshList } from '../../../components/freshlist.tsx'
import { isOver } from '../../../components/getstarted/remembered.ts'
import { useNow } from '../../../components/hooks/usenow.ts'
import { InPlace, part } from '../../../components/part.tsx'
import { Time } from '../../../components/time.tsx'
import { countText, countWords } from '../../../keylist/searched.ts'
import { useSession } from '../../../session/session.ts'
import type { Query } from '../../../session/usequery.ts'
import { hrefOf } from '../../../text/routes.ts'
import { overviewOf } from './overview.ts'

const getStarted = part(async () => (await import('../../../components/getstarted/getstarted.tsx')).GetStarted)

/** Shows what a person wants to know first: what needs attention, what happened, and what jobs do. */
export function OverviewContent({ keys }: { keys: Query<Listed<AccessKey>> }) {
  const { self } = useSession()
  const { data } = keys
  return (
    <>
      {data && !data.isPart && !isOver(self) && <InPlace of={getStarted} keys={data.items} />}
      <FreshList query={keys} what="keys">
        {(listed) => (listed.isPart ? <p class="loading">Loading…</p> : <Overview listed={listed} />)}
      </FreshList>
    </>
  )
}

/** So many names of a group are shown. */
const MOST_NAMES = 5

function Overview({ listed: { items, more } }: { listed: Listed<AccessKey> }) {
  const now = useNow()
  const { attention, exchanges, events } = useMemo(() => overviewOf(items, now), [items, now])
  return (
    <div class="halves">
      <section class="card" aria-labelledby="attention">
        <h2 id="attention">Needs attention</h2>
        {more && <p class="hint">These are the first {MAX_LISTED} of more keys.</p>}
        {attention.length === 0 && <p>No key that you may see needs attention.</p>}
        {attention.map(({ title, about, keys, href }) => (
          <section key={title} aria-label={title}>
            <h3>
              <a href={href}>
                {countText(keys.length, more)} {title}
              </a>
            </h3>
            <p class="muted">{about}</p>
            <ul class="badges">
              {keys.slice(0, MOST_NAMES).map(({ metadata: { uid, name } }) => (
                <li key={uid}>
                  <NameLink class="button" href={hrefOf('keys', [name])} text={name} />
                </li>
              ))}
            </ul>
          </section>
        ))}
      </section>
      <div class="stack">
        <section class="card" aria-labelledby="events">
          <h2 id="events">What happened last</h2>
          {events.length === 0 && <p>Nothing yet.</p>}
          <ul class="timeline">
            {events.map(({ name, at, words }) => (
              <li key={`${name} ${words}`}>
                <span>
                  <NameLink href={hrefOf('keys', [name])} text={name} /> {words}
                </span>
                <Time at={at} direction="past" />
              </li>
            ))}
          </ul>
          <p class="hint">Who did what to each key: keyplane history --since 12h</p>
        </section>
        <section class="card" aria-labelledby="exchanges">
          <h2 id="exchanges">Exchanges by trust</h2>
          {exchanges.length === 0 && <p class="muted">No key of an exchange works now.</p>}
          <ul class="timeline">
            {exchanges.map(({ title, keys, href }) => (
              <li key={href}>
                <Foreign text={title} />
                <a href={href}>{more ? `${keys.length}+ keys` : countWords(keys.length, keys.length, false)}</a>
              </li>
            ))}
          </ul>
        </section>
      </div>
    </div>
  )
}
