import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { paths } from '../../api/paths.ts'
import type { Provider } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Fact } from '../../components/fact.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { useTrusts } from '../../components/hooks/usetrusts.ts'
import { Fresh } from '../../components/page.tsx'
import { lifetimeWords } from '../../text/lifetime.ts'
import { Conditions } from './claims.tsx'
import { ObjectPage } from './objectpage.tsx'
import { accessInWords, stateOfProvider } from './state.ts'
import { TrustList } from './trustlist.tsx'

/** Shows one identity provider: which ID tokens it accepts, who may use it, and the trusts that do. */
export function ProviderPage({ name }: { name: string }) {
  return (
    <ObjectPage<Provider>
      name={name}
      path={paths.provider(name)}
      noun="identity provider"
      loss="Its trusts no longer exchange ID tokens, and do not work with another provider of this name: create them again."
      list="providers"
    >
      {(provider) => (
        <>
          <Accepted provider={provider} />
          <Users provider={provider} />
        </>
      )}
    </ObjectPage>
  )
}

function Accepted({ provider }: { provider: Provider }) {
  const { spec, status } = provider
  return (
    <section class="card stack" aria-labelledby="tokens">
      <h2 id="tokens">
        Which ID tokens it accepts <Badge {...stateOfProvider(provider)} />
      </h2>
      <Conditions provider={provider} />
      <dl class="facts-list">
        <Fact name="Platform" text={status?.type ?? ''} />
        <Fact name="Public keys" text={spec.jwks ? 'pinned here' : 'read from the issuer'} />
        <Fact name="Used by" text={accessInWords(spec)} />
        {spec.maxTTL !== undefined && <Fact name="Keys valid for" text={`at most ${lifetimeWords(spec.maxTTL)}`} />}
        {spec.scope && <Fact name="Keys may use" text={`at most ${scopeWords(spec.scope)}`} />}
      </dl>
      {spec.description && (
        <p class="muted">
          <Foreign text={spec.description} />
        </p>
      )}
    </section>
  )
}

function Users({ provider }: { provider: Provider }) {
  const trusts = useTrusts()
  return (
    <section class="stack" aria-labelledby="users">
      <h2 id="users">Trusts that use it</h2>
      <Fresh polled={trusts}>
        {({ items }) => {
          const using = items.filter(({ spec }) => spec.identityProvider === provider.metadata.name)
          return using.length === 0 ? (
            <p class="muted">None that you can see.</p>
          ) : (
            <TrustList trusts={using} providers={[provider]} />
          )
        }}
      </Fresh>
    </section>
  )
}
