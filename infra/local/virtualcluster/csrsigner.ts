/**
 * Signs approved requests for kubernetes.io/kube-apiserver-client as kube-controller-manager does.
 * Source: k8s.io/kubernetes pkg/controller/certificates/{signer,authority}, 1.34.
 */
import { rfc3339 } from '../../../lib/meta/encoding/time.ts'
import { type KeyPair, parseRequest, type Usage, type Validity } from '../host/certificates.ts'
import type { CsrCondition, CsrSpec } from './csrobject.ts'

/** The default of --cluster-signing-duration: one year. */
const CLUSTER_SIGNING_SECONDS = 365 * 86_400
const MIN_SECONDS = 600
const BACKDATE_SECONDS = 300
/** Backdating does not shorten certificates with a duration below this. */
const SHORT_SECONDS = 8 * 3600

const OPTIONAL: readonly string[] = ['digital signature', 'key encipherment']
const NEEDED = 'client auth'

/** Returns the PEM certificate in base64, or the Failed condition with the reason. */
export async function signApproved(
  spec: CsrSpec,
  authority: KeyPair,
  now: number,
): Promise<{ certificate: string } | { failed: CsrCondition }> {
  const strange = spec.usages.find((usage) => usage !== NEEDED && !OPTIONAL.includes(usage))
  if (strange !== undefined) return failedStatus(`invalid usage for client certificate: ${strange}`, now)
  if (!spec.usages.includes(NEEDED))
    return failedStatus(`missing required usage for client certificate: ${NEEDED}`, now)
  const request = await parseRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
  const certificate = await request.sign(authority, spec.usages as Usage[], validity(spec.expirationSeconds, now))
  return { certificate: Buffer.from(certificate).toString('base64') }
}

/** Starts five minutes ago and lasts as requested: at least ten minutes, at most the cluster's signing duration. */
function validity(wantedSeconds: number | undefined, now: number): Validity {
  const seconds = Math.min(Math.max(wantedSeconds ?? CLUSTER_SIGNING_SECONDS, MIN_SECONDS), CLUSTER_SIGNING_SECONDS)
  const start = now - BACKDATE_SECONDS * 1000
  return {
    notBefore: new Date(start),
    notAfter: new Date((seconds < SHORT_SECONDS ? now : start) + seconds * 1000),
  }
}

function failedStatus(message: string, now: number): { failed: CsrCondition } {
  const time = rfc3339(new Date(now))
  const condition = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message }
  return { failed: { ...condition, lastUpdateTime: time, lastTransitionTime: time } }
}
