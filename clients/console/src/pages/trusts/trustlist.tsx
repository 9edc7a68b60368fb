import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import { DEFAULT_TTL, type Provider, type Trust } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { claimsInWords } from '../../text/claims.ts'
import { lifetimeWords } from '../../text/lifetime.ts'
import { hrefOf } from '../../text/routes.ts'
import { ownerInWords, stateOfTrust } from './state.ts'

export interface TrustListProps {
  trusts: readonly Trust[]
  /** The providers that the person sees, if they could be read. */
  providers: readonly Provider[] | undefined
}

export const typeOf = (name: string, providers: readonly Provider[] | undefined): string | undefined =>
  providers?.find(({ metadata }) => metadata.name === name)?.status?.type

/** Trusts, each with who gets in, whose keys it makes and what they may do. */
export const TrustList = ({ trusts, providers }: TrustListProps) => (
  <ul class="trust-rows">
    {trusts.map((trust) => {
      const { metadata, spec } = trust
      const { tone, text } = stateOfTrust(trust, providers)
      return (
        <li class="card" key={metadata.uid}>
          <h3>
            <a href={hrefOf('trusts', ['credentials', metadata.name])}>
              <Foreign text={metadata.name} />
            </a>{' '}
            <Badge tone={tone} text={text} />
          </h3>
          {spec.displayName && (
            <p class="muted">
              <Foreign text={spec.displayName} />
            </p>
          )}
          <p>
            <Foreign text={claimsInWords(spec.claims, typeOf(spec.identityProvider, providers))} />
          </p>
          <dl class="trust-facts">
            <Fact
              name={spec.tokensOnly ? 'Tokens of clusters, for' : 'Keys of'}
              text={spec.claimMappings ? 'the person who logs in' : ownerInWords(trust)}
            />
            <Fact name="May use" text={scopeWords(spec.scope)} />
            <Fact name="Valid for" text={lifetimeWords(spec.ttl ?? DEFAULT_TTL)} />
            <Fact name="Through" text={spec.identityProvider} />
          </dl>
        </li>
      )
    })}
  </ul>
)

/** A line of a list of facts. The text may be of somebody else. */
export const Fact = ({ name, text }: { name: string; text: string }) => (
  <div>
    <dt>{name}</dt>
    <dd>
      <Foreign text={text} />
    </dd>
  </div>
)
