/** Defines the columns of `kubectl get federatedidentitycredentials`. */
import type { TrustSpec } from '../../../../federation/federatedidentitycredential.schema.ts'
import { DEFAULT_TTL } from '../../../../federation/trust.ts'
import { column, wide } from '../../../../registry/column.ts'
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
  column('Provider', 'spec.identityProvider', 'Identity provider whose ID tokens are accepted.'),
  column('Owner', 'status.owner', 'Owner of the credential.'),
  column('TTL', 'spec.ttl', 'Time to live of exchanged keys in seconds.', { type: 'integer', absent: DEFAULT_TTL }),
  column('Disabled', 'spec.disabled', 'Whether the credential is disabled.', { type: 'boolean', absent: false }),
  column('Client ID', 'status.clientID', 'The client_id of an exchange.', wide),
  {
    name: 'Claims',
    type: 'string',
    description: 'Claims that the ID token must have.',
    ...wide,
    value: ({ spec }) => describeClaims((spec as unknown as TrustSpec).claims),
  },
  column('Phase', 'status.phase', 'Active, Disabled or Terminating.', wide),
]
