/** How long a kube config is good for. */
import { type FieldError, invalid } from '../meta/errors/fielderror.ts'

const DAY = 86_400
/** Kubernetes signs nothing shorter (pkg/apis/certificates/validation). */
const SHORTEST = 600
const INT32_MAX = 2_147_483_647

export interface TtlLimits {
  /** Deploy-time maximum of a token's life. */
  maxTokenSeconds: number
  /** Deploy-time maximum of a certificate's life; absent = whatever the virtual cluster signs. */
  maxCertificateSeconds?: number
}

/** `seconds` absent: the virtual cluster decides (specification 2.5, certificateTTL 0). */
export type Ttl = { seconds?: number } | { error: FieldError }

/** What to ask of the virtual cluster's signer. With a maximum, 0 is an error: it would ask for more than is allowed. */
export function certificateTtl(ttl: number | bigint | undefined, { maxCertificateSeconds }: TtlLimits): Ttl {
  const max = maxCertificateSeconds ?? INT32_MAX
  if (ttl === 0) return maxCertificateSeconds === undefined ? {} : { error: tooLong(ttl, max) }
  return checkTtl(ttl, max)
}

/** How long a token may live; 0 = as long as the deployment allows. */
export function tokenTtl(
  ttl: number | bigint | undefined,
  { maxTokenSeconds }: TtlLimits,
): { seconds: number } | { error: FieldError } {
  return ttl === 0 ? { seconds: maxTokenSeconds } : checkTtl(ttl, maxTokenSeconds)
}

function checkTtl(ttl: number | bigint | undefined, max: number): { seconds: number } | { error: FieldError } {
  if (ttl === undefined) return { seconds: Math.min(DAY, max) }
  if (ttl < SHORTEST) {
    return { error: invalid(FIELD, ttl, 'may not specify a duration less than 600 seconds (10 minutes)') }
  }
  return ttl > max ? { error: tooLong(ttl, max) } : { seconds: Number(ttl) }
}

const FIELD = 'spec.certificateTTL'

function tooLong(ttl: number | bigint, max: number): FieldError {
  const zero = ttl === 0 ? ', and 0 leaves the duration to the virtual cluster' : ''
  return invalid(FIELD, ttl, `may not specify a duration larger than ${max} seconds${zero}`)
}
