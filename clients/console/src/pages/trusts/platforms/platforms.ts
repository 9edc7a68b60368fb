/**
 * What is known of each platform: what the form for a new trust asks for, and the jobs of the documentation. The values are in
 * platforms.yaml.
 */
import type { Provider } from '../../../api/trusts.ts'

/** A text that becomes the exact value of a claim. */
export interface ClaimField {
  claim: string
  label: string
  /** Where to find the value. */
  hint: string
  /** A regular expression, and what is wrong with other texts. */
  form?: readonly [pattern: string, message: string]
  /** What stands before the text in the claim. */
  prefix?: string
  /** Values to choose from. */
  options?: readonly string[]
  /** Claims that belong to this one. */
  also?: Readonly<Record<string, string>>
}

/** A job, with marks such as `{{url}}`. */
export interface JobTemplate {
  title: string
  /** What to do before it works. */
  next?: string
  text: string
}

export interface Platform {
  type: NonNullable<Provider['spec']['type']>
  label: string
  /** The issuer that signs for everybody, if there is one. */
  issuer?: string
  issuerHint?: string
  /** The claim that binds an organization. Providers of an issuer that signs for everybody need it. */
  owner?: ClaimField
  /** Where the public keys are, if this API may be unable to reach the issuer. */
  keysHint?: string
  tokenUse?: NonNullable<Provider['spec']['tokenUse']>
  /** Every trust has these claims: together they say who gets in, as lib/federation/issuertypes.ts demands. */
  fields: readonly ClaimField[]
  /** Every trust has one of these too: otherwise whoever can push to a branch gets in. */
  choice?: readonly ClaimField[]
  jobs: readonly JobTemplate[]
}
