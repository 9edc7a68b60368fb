import { useMemo } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import { type Listed, MAX_LISTED } from '../../../api/lists.ts'
import { useKeys } from '../../../components/hooks/usekeys.ts'
import { useNow } from '../../../components/hooks/usenow.ts'
import { Fresh, Page } from '../../../components/page.tsx'
import { countText } from '../../../keylist/searched.ts'
import { Bars } from './bars.tsx'
import { overviewOf } from './counts.ts'

/** Shows in numbers which access keys there are. Each number leads to its list. */
export function OverviewPage() {
  const keys = useKeys()
  return (
    <Page title="Overview" about="The keys that you may see, in numbers. Each number leads to its list.">
      <Fresh polled={keys}>
        {(listed) => (listed.isPart ? <p class="loading">Loading…</p> : <Overview listed={listed} />)}
      </Fresh>
    </Page>
  )
}

function Overview({ listed: { items, more } }: { listed: Listed<AccessKey> }) {
  const now = useNow()
  const { all, attention, expiries, owners, otherOwners, exchanges } = useMemo(
    () => overviewOf(items, now),
    [items, now],
  )
  const part = more ? `Of the first ${MAX_LISTED} keys. ` : ''
  return (
    <>
      {more && (
        <p class="hint" role="status">
          These numbers count the first {MAX_LISTED} of more keys.
        </p>
      )}
      <ul class="totals">
        {[all, ...attention].map(({ title, count, href }) => (
          <li key={title}>
            <a href={href}>
              <strong>{countText(count, more)}</strong> {title}
            </a>
          </li>
        ))}
      </ul>
      <div class="charts">
        <Bars
          title="By expiry"
          head="Expires"
          counts={expiries}
          about={`${part}Each key is in one row. Keys of exchanges are left out.`}
        />
        <Bars
          title="Owners with the most keys"
          head="Owner"
          counts={owners}
          about={`${part}${otherOwners > 0 ? `There are ${otherOwners} more owners. ` : ''}Keys of exchanges are left out.`}
          none="There are no keys."
        />
        <Bars
          title="Exchanges by trust"
          head="Trust"
          counts={exchanges}
          about={`${part}Keys of exchanges that work now. They end within a day.`}
          none="No key of an exchange works now."
        />
        <section class="card">
          <h2>Refusals</h2>
          <p class="muted">
            How many requests were refused, and why, is in the metrics <code>authorizations</code> and{' '}
            <code>exchanges</code> of the deployment, which the console does not read. The page{' '}
            <code>docs/monitoring.md</code> of keyplane describes them.
          </p>
        </section>
      </div>
    </>
  )
}
