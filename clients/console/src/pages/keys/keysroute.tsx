import { useKeys } from '../../components/hooks/usekeys.ts'
import { Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import type { Route } from '../../text/routes.ts'
import { KeysPage } from './keyspage.tsx'

const overview = part(async () => (await import('./overview/overviewpage.tsx')).OverviewContent)

/** Shows the list of the keys, or what it means, whose script loads while the keys are read. */
export function KeysRoute({ route }: { route: Route }) {
  const keys = useKeys()
  if (route.page !== 'overview') return <KeysPage keys={keys} route={route} />
  // The heading is there at once: it takes the focus.
  return (
    <Page title="Overview">
      <InPlace of={overview} what="The overview" keys={keys} />
    </Page>
  )
}
