/** Computes the values of provider fields that have defaults. Defaults are not stored. */
import { DEFAULT_ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from './algorithms.ts'
import { type IssuerType, knownIssuer, type TokenUse, tokenUses } from './issuers.ts'
import type { ProviderSpec } from './provider.ts'

/** Returns the signature algorithms that the provider accepts. */
export const algorithmsOf = ({ algorithms }: ProviderSpec): readonly SignatureAlgorithm[] =>
  algorithms?.filter(isAlgorithm) ?? DEFAULT_ALGORITHMS

/** Returns the audience that ID tokens must have. `ownIssuer` is the issuer of this API. */
export const audienceOf = ({ audience }: ProviderSpec, ownIssuer: string): string => audience ?? ownIssuer

/** Returns how often an ID token of the provider can be exchanged. */
export const tokenUseOf = (spec: ProviderSpec): TokenUse => spec.tokenUse ?? tokenUses[typeOf(spec)]

/** Returns the platform of the provider's issuer. A known issuer has its own type, whatever the spec says. */
export const typeOf = ({ issuer, type }: ProviderSpec): IssuerType => knownIssuer(issuer)?.type ?? type ?? 'OIDC'
