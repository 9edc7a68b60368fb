/** Sends requests to services of AWS, and says what a refusal means. */
import { type AwsCredentials, signatures } from '../../engine/outbound/awssignature.ts'
import { type HttpsAnswer, sendHttps } from '../../engine/outbound/https.ts'

/** The services that are asked: for roles, and for clusters. */
type Service = 'sts' | 'eks'

/** How services of AWS are reached. */
export interface Aws {
  /** Returns an https URL without a path. */
  endpoint(service: Service, region: string): string
  /** Those of the function. */
  credentials(): AwsCredentials
  /** The region of the deployment. */
  region: string
  now(): Date
  /** Returns a signal that ends a request after so many milliseconds. */
  deadline(ms: number): AbortSignal
  /** PEM of an authority that is not public. */
  certificateAuthority?: string
}

export interface AwsRequest {
  service: Service
  region: string
  method: 'GET' | 'POST'
  /** Needs no encoding, and has no query. */
  path: string
  contentType: string
  body: string
}

const TIMEOUT_MS = 5000
const MAX_ANSWER_BYTES = 256 * 1024

const sign = { sts: signatures('sts'), eks: signatures('eks') }

/** Returns the answer with any status. Rejects with an OutboundError if there is none. */
export function askAws(
  { service, region, method, path, contentType, body }: AwsRequest,
  { endpoint, credentials, now, deadline, certificateAuthority }: Aws,
): Promise<HttpsAnswer> {
  const url = new URL(path, endpoint(service, region))
  const signed: Record<string, string> = { 'content-type': contentType, host: url.host }
  sign[service]({ method, path: url.pathname, headers: signed, body }, now(), region, credentials())
  const { host: _, ...headers } = signed
  return sendHttps({
    url,
    method,
    headers: { ...headers, accept: service === 'eks' ? 'application/json' : 'text/xml' },
    ...(body !== '' && { body }),
    signal: deadline(TIMEOUT_MS),
    maxBytes: MAX_ANSWER_BYTES,
    ...(certificateAuthority !== undefined && { certificateAuthority }),
  })
}
