/**
 * Prevents an access key that an exchange made, and a value that a rotation has replaced, from leaving behind a client
 * certificate that outlives it. A certificate cannot be revoked.
 */
import type { UserInfo } from '../access/users/user.ts'
import { rfc3339, rfc3339OfUnix } from '../engine/meta/encoding/time.ts'
import { SHORTEST } from './ttl.ts'

/** Covers the time until the virtual cluster signs, and the difference between its clock and ours. */
const MARGIN_SECONDS = 60

/**
 * Returns the end of an exchanged key, or of a value that a rotation has replaced, in Unix seconds. Certificates of other keys
 * may outlive them.
 */
const endOf = ({ federation, key, credential }: UserInfo): number | undefined =>
  federation ? key.expires : credential?.until

/**
 * Returns why the user may not have a certificate for so many seconds (403), or undefined. If `seconds` is undefined, the
 * virtual cluster decides.
 */
export function outlivingRequest(user: UserInfo, seconds: number | undefined, now: Date): string | undefined {
  const end = endOf(user)
  if (end === undefined) return undefined
  const most = end - Math.ceil(now.getTime() / 1000) - MARGIN_SECONDS
  if (seconds !== undefined && seconds <= most) return undefined
  const why = `a client certificate would outlive ${nounOf(user)} ${rfc3339OfUnix(end)}`
  return most < SHORTEST
    ? `${why}, and Kubernetes signs no certificate for less than ${SHORTEST} seconds; request a token (clientCert: false)`
    : `${why}; ask for spec.certificateTTL of at most ${most}`
}

const nounOf = ({ federation }: UserInfo): string =>
  federation
    ? 'the access key used, which expires at'
    : 'the value of the access key used, which was rotated and ends at'

/** Returns why the user may not have a certificate that the virtual cluster signed until then (403), or undefined. */
export function outlivingCertificate(user: UserInfo, notAfter: Date): string | undefined {
  const end = endOf(user)
  return end !== undefined && notAfter.getTime() > end * 1000
    ? `the virtual cluster signed a client certificate that is valid until ${rfc3339(notAfter)}, which would outlive the access key used`
    : undefined
}

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
