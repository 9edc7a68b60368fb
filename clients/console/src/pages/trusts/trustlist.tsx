import { scopeWords } from '../../../../../lib/access/scopes/words.ts'
import type { Provider, Trust } from '../../api/trusts.ts'
import { Badge } from '../../components/badge.tsx'
import { Foreign } from '../../components/foreign.tsx'
import { Named, ObjectTable } from '../../components/objecttable.tsx'
import { When } from '../../components/time.tsx'
import { ownerInWords } from '../../text/access.ts'
import { claimsInWords } from '../../text/claims.ts'
import { hrefOf } from '../../text/routes.ts'
import { stateOfTrust } from './state.ts'

export interface TrustListProps {
  trusts: readonly Trust[]
  /** The providers that the person sees, if they could be read. */
  providers: readonly Provider[] | undefined
}

/** Trusts, each with who gets in, whose keys it makes and what they may do. */
export function TrustList({ trusts, providers }: TrustListProps) {
  const jobsOf = ({ spec }: Trust) =>
    claimsInWords(spec.claims, providers?.find(({ metadata }) => metadata.name === spec.identityProvider)?.status?.type)
  const whoseOf = (trust: Trust) =>
    trust.spec.claimMappings ? 'the person who logs in' : ownerInWords(trust.status?.owner)
  const stateOf = (trust: Trust) => (
    <>
      <Badge {...stateOfTrust(trust, providers)} />
      <When words="refused an exchange" at={trust.status?.lastRefusal?.time} />
    </>
  )
  return (
    <ObjectTable
      of="Trusts"
      items={trusts}
      keyOf={({ metadata }) => metadata.uid}
      textOf={(one) => {
        const { displayName, scope, identityProvider } = one.spec
        const texts = [one.metadata.name, displayName, jobsOf(one), whoseOf(one), scopeWords(scope), identityProvider]
        return texts.join('\n')
      }}
      columns={[
        [
          'Name',
          ({ metadata, spec }) => (
            <Named
              name={metadata.name}
              called={spec.displayName}
              href={hrefOf('trusts', ['credentials', metadata.name])}
            />
          ),
        ],
        ['Who gets in', (one) => <Foreign text={jobsOf(one)} />],
        ['Keys of', (one) => <Foreign text={whoseOf(one)} />],
        ['May use', ({ spec }) => <Foreign text={scopeWords(spec.scope)} />],
        ['Through', ({ spec }) => <Foreign text={spec.identityProvider} />],
        ['State', stateOf],
      ]}
    />
  )
}
