/**
 * Signs requests for kubernetes.io/kube-apiserver-client as kube-controller-manager does.
 * Source: k8s.io/kubernetes pkg/controller/certificates/{signer,authority}, 1.34.
 */
import { type KeyPair, parseRequest, type Usage, type Validity } from '../host/certificates.ts'
import type { CsrSpec } from './csrobject.ts'

/** The default of --cluster-signing-duration: one year. */
const CLUSTER_SIGNING_SECONDS = 365 * 86_400
const BACKDATE_SECONDS = 300
/** Backdating does not shorten certificates with a duration below this. */
const SHORT_SECONDS = 8 * 3600

/** Returns the PEM certificate in base64. `now` is in Unix milliseconds. */
export async function signRequest(spec: CsrSpec, authority: KeyPair, now: number): Promise<string> {
  const request = await parseRequest(Buffer.from(spec.request, 'base64').toString('latin1'))
  const certificate = await request.sign(authority, spec.usages as Usage[], validity(spec.expirationSeconds, now))
  return Buffer.from(certificate).toString('base64')
}

/** Starts five minutes ago and lasts as requested, at most the cluster's signing duration. */
function validity(wantedSeconds: number | undefined, now: number): Validity {
  const seconds = Math.min(wantedSeconds ?? CLUSTER_SIGNING_SECONDS, CLUSTER_SIGNING_SECONDS)
  const start = now - BACKDATE_SECONDS * 1000
  return {
    notBefore: new Date(start),
    notAfter: new Date((seconds < SHORT_SECONDS ? now : start) + seconds * 1000),
  }
}
