import { useKeys } from '../../components/hooks/usekeys.ts'
import type { Route } from '../../text/routes.ts'
import { KeysPage } from './keyspage.tsx'
import { OverviewPage } from './overview/overviewpage.tsx'

/** Shows the list of the keys, or what it means. Both need most of the same script. */
export function KeysRoute({ route }: { route: Route }) {
  const keys = useKeys()
  return route.page === 'overview' ? <OverviewPage keys={keys} /> : <KeysPage keys={keys} route={route} />
}
