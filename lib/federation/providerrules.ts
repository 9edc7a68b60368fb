/** Computes the values of provider fields that have defaults. Defaults are not stored. */
import { DEFAULT_ALGORITHMS, isAlgorithm, type SignatureAlgorithm } from './algorithms.ts'
import { type IssuerRules, type IssuerType, issuerRules, type TokenUse } from './catalogue.ts'
import type { ProviderSpec } from './provider.ts'

/** Returns the rules for the ID tokens of the provider's issuer. */
export const rulesOf = ({ issuer, type }: ProviderSpec): IssuerRules => issuerRules(issuer, type)

/** Returns the signature algorithms that the provider accepts. */
export const algorithmsOf = ({ algorithms }: ProviderSpec): readonly SignatureAlgorithm[] =>
  algorithms?.filter(isAlgorithm) ?? DEFAULT_ALGORITHMS

/** Returns the audience that ID tokens must have. `ownIssuer` is the issuer of this API. */
export const audienceOf = ({ audience }: ProviderSpec, ownIssuer: string): string => audience ?? ownIssuer

/** Returns how often an ID token of the provider can be exchanged. */
export const tokenUseOf = (spec: ProviderSpec): TokenUse => spec.tokenUse ?? rulesOf(spec).tokenUse

/** Returns the platform of the provider's issuer. */
export const typeOf = (spec: ProviderSpec): IssuerType => rulesOf(spec).type
