import type { Route } from '../../text/routes.ts'
import { KeysPage } from './keyspage.tsx'
import { OverviewPage } from './overview/overviewpage.tsx'

/** Shows the list of the keys, or what it counts. Both need most of the same script. */
export const KeysRoute = ({ route }: { route: Route }) =>
  route.page === 'overview' ? <OverviewPage /> : <KeysPage route={route} />
