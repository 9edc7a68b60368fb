import { ApiError } from '../../api/status.ts'
import { useKeys } from '../../components/hooks/usekeys.ts'
import { Page } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import type { Route } from '../../text/routes.ts'
import { KeysPage } from './keyspage.tsx'
import { OverviewPage } from './overview/overviewpage.tsx'

const notAllowed = part(async () => (await import('./emptykeys.tsx')).NotAllowed)

/** Shows the list of the keys, or what it means. Both need most of the same script. */
export function KeysRoute({ route }: { route: Route }) {
  const keys = useKeys()
  const isOverview = route.page === 'overview'
  if (keys.data === undefined && keys.error instanceof ApiError && keys.error.code === 403)
    return (
      <Page title={isOverview ? 'Overview' : 'Keys'}>
        <InPlace of={notAllowed} what="What you may do" message={keys.error.message} />
      </Page>
    )
  return isOverview ? <OverviewPage keys={keys} /> : <KeysPage keys={keys} route={route} />
}
