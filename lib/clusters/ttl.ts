/** Computes and validates the lifetime of kube configs. */
import { type FieldError, invalid } from '../engine/meta/errors/fielderror.ts'
import { DAY_SECONDS } from '../engine/meta/value/durations.ts'

/** The shortest duration that Kubernetes signs (pkg/apis/certificates/validation). */
export const SHORTEST = 600
/** The shortest lifetime of a token: the client must still find the time to use it. */
const SHORTEST_TOKEN = 60
const INT32_MAX = 2_147_483_647

export interface TtlLimits {
  /** Deploy-time maximum lifetime of a token. */
  maxTokenSeconds: number
  /** Deploy-time maximum lifetime of a certificate. When absent, the virtual cluster's signer decides. */
  maxCertificateSeconds?: number
}

/** When `seconds` is absent, the virtual cluster decides (specification 2.5, certificateTTL 0). */
export type Ttl = { seconds?: number } | { error: FieldError }

/**
 * Returns the duration to request from the virtual cluster's signer. With a maximum, 0 is an error, because the signer
 * could exceed the maximum.
 */
export function certificateTtl(ttl: number | bigint | undefined, { maxCertificateSeconds }: TtlLimits): Ttl {
  const max = maxCertificateSeconds ?? INT32_MAX
  if (ttl === 0) return maxCertificateSeconds === undefined ? {} : { error: ttlTooLong(ttl, max) }
  return checkTtl(ttl, max, certificates)
}

/** Returns the lifetime of a token; 0 means the deployment's maximum. */
export const tokenTtl = (ttl: number | bigint | undefined, { maxTokenSeconds }: TtlLimits): Ttl =>
  ttl === 0 ? { seconds: maxTokenSeconds } : checkTtl(ttl, maxTokenSeconds, tokens)

interface Least {
  seconds: number
  text: string
}

const certificates: Least = { seconds: SHORTEST, text: `${SHORTEST} seconds (10 minutes)` }
const tokens: Least = { seconds: SHORTEST_TOKEN, text: `${SHORTEST_TOKEN} seconds` }

function checkTtl(ttl: number | bigint | undefined, max: number, least: Least): Ttl {
  if (ttl === undefined) return { seconds: Math.min(DAY_SECONDS, max) }
  if (ttl < least.seconds) return { error: invalid(FIELD, ttl, `may not specify a duration less than ${least.text}`) }
  return ttl > max ? { error: ttlTooLong(ttl, max) } : { seconds: Number(ttl) }
}

const FIELD = 'spec.certificateTTL'

function ttlTooLong(ttl: number | bigint, max: number): FieldError {
  const zero = ttl === 0 ? ', and 0 leaves the duration to the virtual cluster' : ''
  return invalid(FIELD, ttl, `may not specify a duration larger than ${max} seconds${zero}`)
}
