import { scopeWords } from '../../../../../lib/authorization/scopes/words.ts'
import { paths } from '../../api/paths.ts'
import type { Provider } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Code } from '../../components/code.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Fresh, Page } from '../../components/page.tsx'
import { usePolled } from '../../session/usepolled.ts'
import { distance } from '../../text/times.ts'
import { visible } from '../../text/visible.ts'
import { Actions } from './actions.tsx'
import { Conditions } from './claims.tsx'
import { useTrusts } from './lists.ts'
import { appliedYaml } from './manifest.ts'
import { accessInWords, stateOfProvider } from './state.ts'
import { Fact, TrustList } from './trustlist.tsx'

/** One identity provider: which ID tokens it accepts, who may use it, and the trusts that do. */
export function ProviderPage({ name }: { name: string }) {
  const provider = usePolled(`provider ${name}`, ({ api }, signal) =>
    api.send<Provider>(paths.provider(name), { signal }),
  )
  const trusts = useTrusts()
  const { data } = provider
  return (
    <Page
      title={visible(name)}
      about={data?.spec.displayName && <Foreign text={data.spec.displayName} />}
      actions={
        data && (
          <Actions
            object={data}
            path={paths.provider(name)}
            noun="identity provider"
            loss="Its trusts exchange nothing any more, and work with no other provider of this name: make them again."
            onChange={() => void provider.refresh()}
          />
        )
      }
    >
      <Fresh polled={provider}>
        {(one) => (
          <section class="card trust-stack" aria-labelledby="tokens">
            <h2 id="tokens">
              Which ID tokens it accepts <Badge {...stateOfProvider(one)} />
            </h2>
            <Conditions provider={one} />
            <dl class="trust-facts">
              <Fact name="Platform" text={one.status?.type ?? ''} />
              <Fact name="Public keys" text={one.spec.jwks ? 'pinned here' : 'read from the issuer'} />
              <Fact name="Used by" text={accessInWords(one.spec)} />
              {one.spec.maxTTL !== undefined && (
                <Fact name="Keys valid for" text={`at most ${distance(one.spec.maxTTL * 1000)}`} />
              )}
              {one.spec.scope && <Fact name="Keys may use" text={`at most ${scopeWords(one.spec.scope)}`} />}
            </dl>
            {one.spec.description && (
              <p class="muted">
                <Foreign text={one.spec.description} />
              </p>
            )}
          </section>
        )}
      </Fresh>
      <section class="trust-stack" aria-labelledby="users">
        <h2 id="users">Trusts that use it</h2>
        <Fresh polled={trusts}>
          {({ items }) => {
            const using = items.filter(({ spec }) => spec.identityProvider === name)
            return using.length === 0 ? (
              <p class="muted">There is none that you may see.</p>
            ) : (
              <TrustList trusts={using} providers={data && [data]} />
            )
          }}
        </Fresh>
      </section>
      {data && <Code title="YAML" text={appliedYaml('IdentityProvider', data)} />}
    </Page>
  )
}
