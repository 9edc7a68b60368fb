import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { paths } from '../../api/paths.ts'
import { server } from '../../api/root.ts'
import { DEFAULT_TTL, type Provider, type Trust } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Code } from '../../components/code.tsx'
import { Fact } from '../../components/fact.tsx'
import { Foreign, NameLink, Paragraph } from '../../components/foreign.tsx'
import { useProviders, useTrusts } from '../../components/hooks/usetrusts.ts'
import { Notice } from '../../components/notice.tsx'
import { Fresh } from '../../components/page.tsx'
import { InPlace, part } from '../../components/part.tsx'
import { Time } from '../../components/time.tsx'
import { ownerInWords } from '../../text/access.ts'
import { claimsInWords } from '../../text/claims.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { hrefOf } from '../../text/routes.ts'
import { Claims, Conditions } from './claims.tsx'
import { ObjectPage } from './objectpage.tsx'
import { fillJobs, UnsafeValue } from './platforms/jobs.ts'
import { usePlatforms } from './platforms/useplatforms.ts'
import { accessInWords, problemsOfTrust, stateOfProvider } from './state.ts'
import { TrustList } from './trustlist.tsx'

const reached = part(async () => (await import('./reached.tsx')).Reached)

/** Shows one trust: who gets in, what they get, and the job that uses it. Its keys are in the list of the keys. */
export function TrustPage({ name }: { name: string }) {
  const providers = useProviders()
  return (
    <ObjectPage<Trust>
      name={name}
      path={paths.trust(name)}
      noun="trust"
      loss="A trust that is made again under this name has another client ID: its jobs need the new one."
      list="trusts"
      links={Object.entries({ edit: 'Edit', like: 'Duplicate' }).map(([how, text]) => (
        <NameLink class="button" href={hrefOf('new-trust', [], { [how]: name })} text={text} key={how} />
      ))}
    >
      {(trust) => <Details trust={trust} providers={providers.data?.items} />}
    </ObjectPage>
  )
}

function Details({ trust, providers }: { trust: Trust; providers: readonly Provider[] | undefined }) {
  const { metadata, spec, status } = trust
  const refused = status?.lastRefusal
  const provider = providers?.find((one) => one.metadata.name === spec.identityProvider)
  return (
    <>
      {problemsOfTrust(trust, providers).map(({ tone, text, explanation }) => (
        <Notice tone={tone} title={text} key={text}>
          <p>{explanation}</p>
        </Notice>
      ))}
      {refused && (
        <Notice tone="plain" title="An exchange was refused">
          <Paragraph text={refused.message ?? ''} />
          <p>
            <Foreign text={refused.subject ?? ''} />, <Time at={refused.time ?? ''} direction="past" isDated />
          </p>
        </Notice>
      )}
      <div class="halves">
        <section class="card stack" aria-labelledby="who">
          <h2 id="who">Who gets in</h2>
          <Paragraph text={claimsInWords(spec.claims, provider?.status?.type)} />
          <Claims entries={spec.claims} />
          <p>
            Through the identity provider{' '}
            <a href={hrefOf('trusts', ['providers', spec.identityProvider])}>
              <Foreign text={spec.identityProvider} />
            </a>
            {provider ? ', which demands this of every ID token:' : '. You do not see what it demands.'}
          </p>
          {provider && <Conditions provider={provider} />}
        </section>
        <section class="card stack" aria-labelledby="what">
          <h2 id="what">What they get</h2>
          <dl class="facts-list">
            <Fact
              name={spec.tokensOnly ? 'Tokens of clusters, for' : 'A key of'}
              text={spec.claimMappings ? mappingInWords(spec.claimMappings) : ownerInWords(status?.owner)}
            />
            {spec.groups && <Fact name="With the groups" text={spec.groups.join(', ')} />}
            <Fact name="Valid for" text={lifetimeInWords(spec.ttl, provider)} />
            <Fact name="It may use" text={scopeWords(spec.scope)} />
            {provider?.spec.scope && <Fact name="But at most" text={scopeWords(provider.spec.scope)} />}
          </dl>
          {spec.description && <Paragraph text={spec.description} class="muted" />}
          <InPlace of={reached} trust={trust} />
          <p>
            <a href={keysOf(metadata.name)}>Keys of its exchanges</a>{' '}
            <span class="muted">Keys that a job revokes are deleted at once, and expired ones after a day.</span>
          </p>
        </section>
      </div>
      <Job trust={trust} provider={provider} />
    </>
  )
}

function lifetimeInWords(ttl = DEFAULT_TTL, provider: Provider | undefined): string {
  const most = provider?.spec.maxTTL
  return most !== undefined && most < ttl ? `${lifetimeWords(most)}: the provider allows no more` : lifetimeWords(ttl)
}

const mappingInWords = ({
  username: { claim, prefix },
  groups = [],
}: NonNullable<Trust['spec']['claimMappings']>): string =>
  [
    `user ${prefix} and the claim ${claim}`,
    ...groups.map(({ claim: of, value, group }) => `group ${group} if ${of} is ${value}`),
  ].join(', ')

/** The longest value of a label. */
const LONGEST_LABEL = 63
/** The label of keys of a trust with a longer name begins with as much of it. */
const LABEL_BEGINNING = 46

/** Returns the address of the list of the keys that the exchanges of a trust have made. */
const keysOf = (name: string): string =>
  hrefOf('keys', [], {
    filter: name.length <= LONGEST_LABEL ? `trust:${name}` : `trust:* ${name.slice(0, LABEL_BEGINNING)}`,
  })

/** The job of the platform, ready to copy. */
function Job({ trust: { spec, status }, provider }: { trust: Trust; provider: Provider | undefined }) {
  const platforms = usePlatforms()
  const values = {
    url: server,
    clientID: status?.clientID ?? '',
    audience: provider?.status?.audience ?? server,
    claims: [...spec.claims, ...(provider?.spec.claims ?? [])],
    ...virtualClusterOf(spec.scope),
  }
  return (
    <section class="stack" aria-labelledby="job">
      <h2 id="job">The job</h2>
      {!provider && (
        <p class="muted">You do not see the identity provider: this is the general job, with the usual audience.</p>
      )}
      <Fresh query={platforms}>
        {(all) => {
          const { jobs = [] } = all.find(({ type }) => type === provider?.status?.type) ?? all.at(-1) ?? {}
          try {
            return fillJobs(jobs, values).map(({ title, text, next }) => (
              <div class="stack" key={title}>
                <Code title={title} text={text} />
                {next && <Paragraph text={next} class="hint" />}
              </div>
            ))
          } catch (error) {
            if (!(error instanceof UnsafeValue)) throw error
            return (
              <Notice tone="warn" title="The console writes no job for this trust.">
                <p>{error.message}</p>
              </Notice>
            )
          }
        }}
      </Fresh>
    </section>
  )
}

/** Returns the virtual cluster if the scope is for one. */
function virtualClusterOf(scope: Trust['spec']['scope']): { virtualCluster?: string } {
  const [only, ...others] = scope?.virtualClusters ?? []
  if (!only?.project || !only.virtualCluster || others.length > 0) return {}
  return only.virtualCluster === '*' ? {} : { virtualCluster: `${only.project}/${only.virtualCluster}` }
}

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
      {spec.description && <Paragraph text={spec.description} class="muted" />}
    </section>
  )
}

function Users({ provider }: { provider: Provider }) {
  const trusts = useTrusts()
  return (
    <section class="stack" aria-labelledby="users">
      <h2 id="users">Trusts that use it</h2>
      <Fresh query={trusts}>
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
