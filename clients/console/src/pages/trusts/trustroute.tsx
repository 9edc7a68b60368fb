import { Page } from '../../components/page.tsx'
import { hrefOf, type Route } from '../../text/routes.ts'
import { ProviderPage } from './providerpage.tsx'
import { TrustPage } from './trustpage.tsx'
import { TrustsPage } from './trustspage.tsx'

/** Shows the pages of `#/trusts`: the list, `credentials/NAME` and `providers/NAME`. They share most of their script. */
export function TrustRoute({ route }: { route: Route }) {
  const [kind, name] = route.parts
  if (kind === undefined) return <TrustsPage />
  if (kind === 'credentials' && name !== undefined) return <TrustPage name={name} />
  if (kind === 'providers' && name !== undefined) return <ProviderPage name={name} />
  return (
    <Page title="Not found">
      <p>
        There is no such page. <a href={hrefOf('trusts')}>Go to the trusts</a>.
      </p>
    </Page>
  )
}
