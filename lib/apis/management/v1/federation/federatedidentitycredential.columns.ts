/** Defines the columns of `kubectl get federatedidentitycredentials`. */
import { DEFAULT_TTL, type TrustSpec } from '../../../../federation/trust.ts'
import type { Column } from '../../../../registry/kind.ts'

/** The characters of claims that a column shows. */
const MAX_TEXT = 120

/** Returns the entries in short form: `repository_id=456789,environment=production`. */
function describeClaims(claims: TrustSpec['claims']): string {
  const entries = claims.map(
    ({ claim, values = [], patterns = [] }) => `${claim}=${[...values, ...patterns].join('|')}`,
  )
  const text = entries.join(',')
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text
}

export const columns: readonly Column[] = [
  {
    name: 'Provider',
    type: 'string',
    description: 'Identity provider whose ID tokens are accepted.',
    value: ({ spec }) => spec?.identityProvider,
  },
  { name: 'Owner', type: 'string', description: 'Owner of the credential.', value: ({ status }) => status?.owner },
  {
    name: 'TTL',
    type: 'integer',
    description: 'Time to live of exchanged keys in seconds.',
    value: ({ spec }) => spec?.ttl ?? DEFAULT_TTL,
  },
  {
    name: 'Disabled',
    type: 'boolean',
    description: 'Whether the credential is disabled.',
    value: ({ spec }) => spec?.disabled ?? false,
  },
  {
    name: 'Client ID',
    type: 'string',
    description: 'The client_id of an exchange.',
    priority: 1,
    value: ({ status }) => status?.clientID,
  },
  {
    name: 'Claims',
    type: 'string',
    description: 'Claims that the ID token must have.',
    priority: 1,
    value: ({ spec }) => describeClaims((spec as unknown as TrustSpec).claims),
  },
  {
    name: 'Phase',
    type: 'string',
    description: 'Active, Disabled or Terminating.',
    priority: 1,
    value: ({ status }) => status?.phase,
  },
]
