/** Judges the audience of a provider: a token that is meant for another service must not be accepted here. */
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { withoutTrailingSlashes } from '../engine/meta/value/slashes.ts'

/** Audiences that other services use for themselves. */
const FOREIGN: ReadonlySet<string> = new Set([
  'sts.amazonaws.com',
  'api://AzureADTokenExchange',
  'vault',
  'pypi',
  'testpypi',
  'crates.io',
  'npm:registry.npmjs.org',
  'sigstore',
])

/** What such audiences begin with. */
const FOREIGN_PREFIXES = [
  'https://kubernetes.default.svc',
  'https://iam.googleapis.com/',
  '//iam.googleapis.com/',
] as const

/** Returns the 422 errors for the audience of a provider. */
export function validateAudience(audience: string): FieldError[] {
  if (!/^[\x20-\x7e]+$/.test(audience))
    return [invalid('spec.audience', audience, 'must have printable ASCII characters only')]
  return FOREIGN.has(audience) || FOREIGN_PREFIXES.some((prefix) => audience.startsWith(prefix))
    ? [invalid('spec.audience', audience, 'is the audience of another service, whose tokens would be accepted here')]
    : []
}

/** Returns the warning for an audience that is not at or below the issuer of this API. */
export function audienceWarning(audience: string, issuer: string): string | undefined {
  const isOwn = `${withoutTrailingSlashes(audience)}/`.startsWith(`${withoutTrailingSlashes(issuer)}/`)
  return isOwn ? undefined : 'spec.audience: tokens for this audience could be meant for another service'
}
