import type { Provider } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { FreshList } from '../../components/freshlist.tsx'
import { useProviders, useTrusts } from '../../components/hooks/usetrusts.ts'
import { Notice } from '../../components/notice.tsx'
import { Named, ObjectTable } from '../../components/objecttable.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { hrefOf, type Route } from '../../text/routes.ts'
import { usePlatforms } from './platforms/useplatforms.ts'
import { accessInWords, stateOfProvider } from './state.ts'
import { TrustList } from './trustlist.tsx'
import { ProviderPage, TrustPage } from './trustpage.tsx'

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

/** The trusts that the person may see, and the identity providers that the person may use. Each list has errors of its own. */
function TrustsPage() {
  const trusts = useTrusts()
  const providers = useProviders()
  return (
    <Page
      title="Trusts"
      about="Jobs and pods get a key for the ID token of their platform. They store no secret."
      actions={
        <a class="button primary" href={hrefOf('new-trust')}>
          New trust
        </a>
      }
    >
      <section class="stack" aria-labelledby="trusts">
        <h2 id="trusts" class="hidden">
          Federated identity credentials
        </h2>
        <FreshList query={trusts} what="trusts">
          {({ items, more }) =>
            items.length === 0 ? (
              <NoTrusts />
            ) : (
              <>
                <TrustList trusts={items} providers={providers.data?.items} />
                {more && <More />}
              </>
            )
          }
        </FreshList>
      </section>
      <section class="stack" aria-labelledby="providers">
        <h2 id="providers">Identity providers</h2>
        <FreshList query={providers} what="identity providers">
          {({ items, more }) => (
            <>
              {items.length === 0 && (
                <p class="muted">
                  None that you can use. An administrator makes one for each platform, and says who may use it.
                </p>
              )}
              {items.length > 0 && <ProviderTable providers={items} />}
              {more && <More />}
            </>
          )}
        </FreshList>
      </section>
    </Page>
  )
}

const ProviderTable = ({ providers }: { providers: readonly Provider[] }) => (
  <ObjectTable
    of="Identity providers"
    items={providers}
    keyOf={({ metadata }) => metadata.uid}
    textOf={({ metadata, spec }) => [metadata.name, spec.displayName, spec.issuer, accessInWords(spec)].join('\n')}
    columns={[
      [
        'Name',
        ({ metadata, spec }) => (
          <Named name={metadata.name} called={spec.displayName} href={hrefOf('trusts', ['providers', metadata.name])} />
        ),
      ],
      ['Issuer', ({ spec }) => <Foreign text={spec.issuer} />],
      ['Platform', ({ status }) => status?.type],
      ['Used by', ({ spec }) => <Foreign text={accessInWords(spec)} />],
      ['State', (one) => <Badge {...stateOfProvider(one)} />],
    ]}
  />
)

const More = () => <Notice tone="plain" title="There are more. List them with kubectl get idp,fic." />

function NoTrusts() {
  const platforms = usePlatforms()
  return (
    <Empty title="No trust yet">
      <p>
        A job can show the ID token of its platform instead of a stored key. A trust says which jobs get a key that way,
        and what the key may do. It lives an hour or less. Where do your jobs run?
      </p>
      <Fresh query={platforms}>
        {(all) => (
          <div class="actions">
            {all.map(({ type, label }) => (
              <a class="button" href={hrefOf('new-trust', [], { platform: type })} key={type}>
                {label}
              </a>
            ))}
          </div>
        )}
      </Fresh>
    </Empty>
  )
}
