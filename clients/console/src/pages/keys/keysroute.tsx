import { useKeys } from '../../components/hooks/usekeys.ts'
import { InPlace, part } from '../../components/part.tsx'
import type { Route } from '../../text/routes.ts'
import { KeysPage } from './keyspage.tsx'

const overview = part(async () => (await import('./overview/overviewpage.tsx')).OverviewPage)

/** Shows the list of the keys, or what it means, whose script loads while the keys are read. */
export function KeysRoute({ route }: { route: Route }) {
  const keys = useKeys()
  if (route.page !== 'overview') return <KeysPage keys={keys} route={route} />
  return <InPlace of={overview} what="The overview" keys={keys} />
}
