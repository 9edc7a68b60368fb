/** Warns of a client certificate that is valid for less time than requested, or longer than the access key. */
import type { UserInfo } from '../../authorization/users/user.ts'
import { rfc3339, rfc3339OfUnix } from '../../meta/encoding/time.ts'

/** Signers backdate by 5 minutes, so smaller differences are ignored. */
const TOLERANCE_SECONDS = 600

/** Returns the warnings about a certificate that was requested for `seconds` and is valid until `notAfter`. */
export function lifetimeWarnings(
  { key: { expires } }: Pick<UserInfo, 'key'>,
  { now, seconds, notAfter }: { now: Date; seconds: number | undefined; notAfter: Date },
): string[] {
  const warnings: string[] = []
  const granted = Math.floor((notAfter.getTime() - now.getTime()) / 1000)
  if (seconds !== undefined && granted < seconds - TOLERANCE_SECONDS) {
    warnings.push(`requested expiration of ${seconds} seconds shortened to ${granted} seconds`)
  }
  if (expires !== undefined && notAfter.getTime() > expires * 1000) {
    const end = rfc3339OfUnix(expires)
    warnings.push(
      `the certificate is valid until ${rfc3339(notAfter)} and cannot be revoked; its access key expires at ${end}: the deployment setting max-certificate-ttl-seconds limits certificates`,
    )
  }
  return warnings
}
