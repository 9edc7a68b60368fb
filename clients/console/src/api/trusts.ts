/** Names the types of the objects of token exchange, which the schemas of lib define. */

import type { FromSchema } from '../../../../lib/engine/meta/schema/schema.ts'
import type { TrustSpec, status as trustStatus } from '../../../../lib/federation/federatedidentitycredential.schema.ts'
import type { ProviderSpec, status as providerStatus } from '../../../../lib/federation/identityprovider.schema.ts'
import type { Metadata } from '../../../core/src/objects.ts'

/** An IdentityProvider: lib/federation/identityprovider.md. */
export interface Provider {
  metadata: Metadata
  spec: ProviderSpec
  status?: FromSchema<typeof providerStatus>
}

/** A FederatedIdentityCredential, called trust: lib/federation/federatedidentitycredential.md. */
export interface Trust {
  metadata: Metadata
  spec: TrustSpec
  status?: FromSchema<typeof trustStatus>
}

/** The lifetime in seconds of keys from a trust without `ttl`. */
export const DEFAULT_TTL = 3600

/** The label of keys of exchanges, with the name of their trust. It is absent if that name is not a valid label value. */
export const TRUST_LABEL = 'management.platform/federated-identity-credential'
