import type { ComponentChildren } from 'preact'
import { ApiError } from '../../api/status.ts'
import type { Provider } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Empty } from '../../components/empty.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Notice } from '../../components/notice.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import type { Polled } from '../../session/usepolled.ts'
import { hrefOf } from '../../text/routes.ts'
import { useProviders, useTrusts } from './lists.ts'
import { usePlatforms } from './platforms/useplatforms.ts'
import { accessInWords, stateOfProvider } from './state.ts'
import { Fact, TrustList } from './trustlist.tsx'

/** The trusts that the person may see, and the identity providers that the person may use. Each list has errors of its own. */
export function TrustsPage() {
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
      <section class="trust-stack" aria-labelledby="trusts">
        <h2 id="trusts" class="hidden">
          Federated identity credentials
        </h2>
        <Listed polled={trusts} what="trusts">
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
        </Listed>
      </section>
      <section class="trust-stack" aria-labelledby="providers">
        <h2 id="providers">Identity providers</h2>
        <Listed polled={providers} what="identity providers">
          {({ items, more }) => (
            <>
              {items.length === 0 && (
                <p class="muted">
                  None that you can use. An administrator makes one for each platform, and says who may use it.
                </p>
              )}
              <ul class="trust-rows">
                {items.map((provider) => (
                  <ProviderRow provider={provider} key={provider.metadata.uid} />
                ))}
              </ul>
              {more && <More />}
            </>
          )}
        </Listed>
      </section>
    </Page>
  )
}

interface ListedProps<T> {
  polled: Polled<T>
  /** The objects of the list. */
  what: string
  children(data: T): ComponentChildren
}

/** Shows a list, or says what to do when the scope of the key of the session does not cover it. */
function Listed<T>({ polled, what, children }: ListedProps<T>) {
  const { data, error } = polled
  if (data !== undefined || !(error instanceof ApiError) || error.code !== 403) {
    return <Fresh polled={polled}>{children}</Fresh>
  }
  return (
    <Empty title={`Your access key may not list ${what}`}>
      <p>Its scope does not cover that. To see everything that you may see, sign in with a key that has no scope.</p>
      <p class="muted">
        The server says: <Foreign text={error.message} />
      </p>
    </Empty>
  )
}

const More = () => <Notice tone="plain" title="There are more. List them with kubectl get idp,fic." />

function ProviderRow({ provider }: { provider: Provider }) {
  const { metadata, spec, status } = provider
  const { tone, text } = stateOfProvider(provider)
  return (
    <li class="card">
      <h3>
        <a href={hrefOf('trusts', ['providers', metadata.name])}>
          <Foreign text={metadata.name} />
        </a>{' '}
        <Badge tone={tone} text={text} />
      </h3>
      <p>
        <Foreign text={spec.issuer} />
      </p>
      <dl class="trust-facts">
        <Fact name="Platform" text={status?.type ?? ''} />
        <Fact name="Audience" text={status?.audience ?? ''} />
        <Fact name="Used by" text={accessInWords(spec)} />
      </dl>
    </li>
  )
}

function NoTrusts() {
  const platforms = usePlatforms()
  return (
    <Empty title="No trust yet">
      <p>
        A job can show the ID token of its platform instead of a stored key. A trust says which jobs get a key that way,
        and what the key may do. It lives an hour or less. Where do your jobs run?
      </p>
      <Fresh polled={platforms}>
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
