/** Reads identity providers from stored objects. */
import { isCount, keptRecord } from '../authentication/strictrecord.ts'
import type { Scope } from '../authorization/scopes/scope.ts'
import type { JsonObject } from '../meta/types.ts'
import type { Stored } from '../storage/interface.ts'
import type { ClaimEntry } from './claims.ts'
import type { IssuerType, TokenUse } from './issuers.ts'

/** Who may see a provider and refer to it. */
interface ProviderAccess {
  verbs: string[]
  users?: string[]
  teams?: string[]
}

export interface ProviderSpec {
  displayName?: string
  description?: string
  issuer: string
  /** Absent: recognized from the issuer. */
  type?: IssuerType
  /** Absent: the issuer URL of this deployment. */
  audience?: string
  /** Pinned public keys, as the JSON of a key set. Absent: read from the issuer. */
  jwks?: string
  /** Absent: read from the discovery document of the issuer. */
  jwksURI?: string
  algorithms?: string[]
  tokenUse?: TokenUse
  /** Seconds since the token was issued. */
  maxTokenAge?: number
  /** Seconds that a key may live. */
  maxTTL?: number
  scope?: Scope
  /** Claims that every ID token must have, besides those of the trust. */
  claims?: ClaimEntry[]
  access?: ProviderAccess[]
  disabled?: boolean
}

export interface Provider {
  name: string
  uid: string
  /** Counts the changes that end keys. */
  revision: number
  /** Whether the provider is being deleted. */
  deleted: boolean
  spec: ProviderSpec
}

/** The internal part of a provider, which is stored and versioned with it. */
interface ProviderInternal {
  revision: number
  /** The members that this release does not know. Anyone who writes the provider keeps them. */
  unknown?: JsonObject
}

const stored = keptRecord('the internal part of an identity provider', { revision: isCount })

export const encodeProviderInternal = (internal: ProviderInternal): JsonObject => stored.write(internal)

/** Parses the stored form. Throws an Error for anything else. */
export const decodeProviderInternal = (value: JsonObject): ProviderInternal => stored.read(value)

/** Returns the provider, whose spec the schema has validated. */
export function toProvider({ object, internal }: Pick<Stored, 'object' | 'internal'>): Provider {
  const { name = '', uid = '', deletionTimestamp } = object.metadata
  return {
    name,
    uid,
    revision: decodeProviderInternal(internal).revision,
    deleted: deletionTimestamp !== undefined,
    spec: object.spec as unknown as ProviderSpec,
  }
}
