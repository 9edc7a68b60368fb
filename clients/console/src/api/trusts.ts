/** Declares the objects of token exchange, as far as the console shows them. */
import type { KeySpec, Metadata, Scope } from '../../../core/src/objects.ts'
import type { ClaimEntry } from '../text/claims.ts'

/** An IdentityProvider: lib/apis/management/v1/identityprovider.md. */
export interface Provider {
  metadata: Metadata
  spec: {
    displayName?: string
    description?: string
    issuer: string
    type?: string
    audience?: string
    jwks?: string
    tokenUse?: string
    maxTokenAge?: number
    maxTTL?: number
    scope?: Scope
    claims?: ClaimEntry[]
    access?: { verbs: string[]; users?: string[]; teams?: string[] }[]
    disabled?: boolean
  }
  status?: { phase?: string; type?: string; audience?: string; tokenUse?: string }
}

/** A FederatedIdentityCredential, called trust: lib/apis/management/v1/federatedidentitycredential.md. */
export interface Trust {
  metadata: Metadata
  spec: KeySpec & {
    identityProvider: string
    claims: ClaimEntry[]
    tokensOnly?: boolean
    claimMappings?: {
      username: { claim: string; prefix: string }
      groups?: { claim: string; value: string; group: string }[]
    }
  }
  status?: { owner?: string; phase?: string; clientID?: string }
}

/** The lifetime in seconds of keys from a trust without `ttl`. */
export const DEFAULT_TTL = 3600

/** The label of keys of exchanges, with the name of their trust. It is absent if that name is not a valid label value. */
export const TRUST_LABEL = 'management.platform/federated-identity-credential'
