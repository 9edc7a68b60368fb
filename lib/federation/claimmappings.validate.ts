/** Validates the mappings from claims of people to their user name and groups. */
import { RESERVED_NAMES } from '../access/users/identity.ts'
import { validateGroups } from '../access/users/validateidentity.ts'
import { type FieldError, findingsOf, invalid } from '../engine/meta/errors/fielderror.ts'
import type { ClaimMappings, TrustSpec } from './federatedidentitycredential.schema.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'
import { type Provider, typeOf } from './provider.ts'
import { CHANGEABLE } from './validateclaims.ts'

const path = 'spec.claimMappings'

/** Claims about the token, not about a person. */
const NO_NAMES: ReadonlySet<string> = new Set([
  'iss',
  'aud',
  'exp',
  'iat',
  'nbf',
  'jti',
  'typ',
  'azp',
  'nonce',
  'email_verified',
])

/** Returns the 422 errors for the mappings of a trust. */
export function validateMappings({ groups = [], claimMappings }: TrustSpec, provider: Provider): FieldError[] {
  if (!claimMappings) return []
  const mapped = claimMappings.groups ?? []
  return [
    ...validateClaim(claimMappings.username, provider.spec),
    ...validatePrefix(claimMappings.username, provider.name),
    ...findingsOf(mapped, ({ group }, index) =>
      group.startsWith('system:')
        ? [invalid(`${path}.groups[${index}].group`, group, "may not begin with 'system:'")]
        : [],
    ),
    ...validateGroups([...groups, ...mapped.map(({ group }) => group)], `${path}.groups`),
  ]
}

/** In Azure, the administrators of any tenant set the e-mail addresses of its people. */
function validateClaim({ claim }: ClaimMappings['username'], provider: ProviderSpec): FieldError[] {
  const because = (detail: string) => [invalid(`${path}.username.claim`, claim, detail)]
  if (NO_NAMES.has(claim)) return because('is not the name of a user')
  return claim === 'email' && typeOf(provider) === 'Azure'
    ? because('this issuer does not verify e-mail addresses: use oid or sub')
    : []
}

/** Claims whose values only the issuer decides. `email` counts only if the issuer has verified it. */
const OF_ISSUER: readonly string[] = ['sub', 'email']

/**
 * Requires the name of the provider as the prefix, so that no two providers name the same user. People can choose the values
 * of most claims, so the prefix of such a claim also has the name of the claim. A longer prefix is refused, because a value
 * after a shorter prefix could begin like the rest of it.
 */
function validatePrefix({ claim, prefix }: ClaimMappings['username'], provider: string): FieldError[] {
  const because = (detail: string) => [invalid(`${path}.username.prefix`, prefix, detail)]
  const wanted = OF_ISSUER.includes(claim) ? `${provider}:` : `${provider}:${claim}:`
  const reserved = RESERVED_NAMES.find((one) => wanted.startsWith(one))
  if (reserved) return because(`may not begin with '${reserved}'`)
  return prefix === wanted ? [] : because(`must be '${wanted}', which begins no other user name`)
}

/** Returns the warning about a claim that names a user and that people can change. */
export const mappingWarning = ({ claim }: ClaimMappings['username']): string | undefined =>
  CHANGEABLE.has(claim) ? `${path}.username.claim: people can change ${claim}` : undefined
