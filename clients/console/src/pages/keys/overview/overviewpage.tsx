import { useMemo } from 'preact/hooks'
import type { AccessKey } from '../../../../../core/src/objects.ts'
import type { Listed } from '../../../api/lists.ts'
import { useKeys } from '../../../components/hooks/usekeys.ts'
import { useNow } from '../../../components/hooks/usenow.ts'
import { Fresh, Page } from '../../../components/page.tsx'
import { InPlace, part } from '../../../components/part.tsx'
import { countText } from '../../../keylist/searched.ts'
import { overviewOf } from './counts.ts'

const numbers = part(async () => (await import('./numbers.tsx')).Numbers)

/** Shows in numbers which access keys there are. Each number leads to its list. */
export function OverviewPage() {
  const keys = useKeys()
  return (
    <Page title="Overview" about="These numbers count the keys that you may see. Each number links to its list.">
      <Fresh polled={keys}>
        {(listed) => (listed.isPart ? <p class="loading">Loading…</p> : <Overview listed={listed} />)}
      </Fresh>
    </Page>
  )
}

function Overview({ listed: { items, more } }: { listed: Listed<AccessKey> }) {
  const now = useNow()
  const overview = useMemo(() => overviewOf(items, now), [items, now])
  const totals = [overview.all, ...overview.attention].map((one) => ({ ...one, text: countText(one.count, more) }))
  return <InPlace of={numbers} what="The numbers" {...{ overview, more, totals }} />
}
