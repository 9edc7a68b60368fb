/** Reads identity providers from stored objects, and computes the values of fields that have defaults. Defaults are not stored. */

import type { JsonObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { isCount, type Kept, keptRecord, type RecordOf } from '../keys/credential/strictrecord.ts'
import { DEFAULT_ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from './algorithms.ts'
import type { ProviderSpec } from './identityprovider.schema.ts'
import { type IssuerType, knownIssuer, type TokenUse, tokenUses } from './issuers.ts'

const INTERNAL = {
  /** Counts the changes that end keys. */
  revision: isCount,
}

const OPTIONAL = {
  /** When it was last closed, opened, or ended keys, in unix seconds. Its gate has the same. */
  ended: isCount,
}

/** The internal part of a provider, which is stored and versioned with it. */
interface ProviderInternal extends RecordOf<typeof INTERNAL, typeof OPTIONAL>, Kept {}

export interface Provider extends RecordOf<typeof INTERNAL, typeof OPTIONAL> {
  name: string
  uid: string
  /** Whether the provider is being deleted. */
  deleted: boolean
  spec: ProviderSpec
}

const stored = keptRecord('the internal part of an identity provider', INTERNAL, OPTIONAL)

export const encodeProviderInternal = (internal: ProviderInternal): JsonObject => stored.write(internal)

/** Parses the stored form. Throws an Error for anything else. */
export const decodeProviderInternal = (value: JsonObject): ProviderInternal => stored.read(value)

/** Returns the provider, whose spec the schema has validated. */
export function toProvider({ object, internal }: Pick<Stored, 'object' | 'internal'>): Provider {
  const { name = '', uid = '', deletionTimestamp } = object.metadata
  const { revision, ended } = decodeProviderInternal(internal)
  return {
    name,
    uid,
    revision,
    ...defined({ ended }),
    deleted: deletionTimestamp !== undefined,
    spec: object.spec as unknown as ProviderSpec,
  }
}

/** Returns the signature algorithms that the provider accepts. */
export const algorithmsOf = ({ algorithms }: ProviderSpec): readonly SignatureAlgorithm[] =>
  algorithms?.filter(isAlgorithm) ?? DEFAULT_ALGORITHMS

/** Returns the audience that ID tokens must have. `ownIssuer` is the issuer of this API. */
export const audienceOf = ({ audience }: ProviderSpec, ownIssuer: string): string => audience ?? ownIssuer

/** Returns how often an ID token of the provider can be exchanged. */
export const tokenUseOf = (spec: ProviderSpec): TokenUse => spec.tokenUse ?? tokenUses[typeOf(spec)]

/** Returns the platform of the provider's issuer. A known issuer has its own type, whatever the spec says. */
export const typeOf = ({ issuer, type }: Pick<ProviderSpec, 'issuer' | 'type'>): IssuerType =>
  knownIssuer(issuer)?.type ?? type ?? 'OIDC'
