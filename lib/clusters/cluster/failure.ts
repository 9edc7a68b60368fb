/** Defines the failures of clusters, with messages that tell the owner where to look. */
import { badGateway, StatusError, serviceUnavailable, timeout } from '../../engine/meta/errors/status.ts'

const REACH = 'cannot be reached: '

/**
 * One row for each cause: the HTTP status and the end of the sentence that begins with the name of the cluster.
 * 503 means unreachable, 504 too slow, 502 reachable but unusable.
 */
const causes = {
  refused: [503, `${REACH}the connection was refused`],
  'unknown-host': [503, `${REACH}its host name does not resolve`],
  unroutable: [503, `${REACH}no connection could be made`],
  untrusted: [503, `${REACH}its certificate is not signed by the trusted authority`],
  'wrong-name': [503, `${REACH}its certificate is for another name`],
  'expired-certificate': [503, `${REACH}its certificate is expired or not valid yet`],
  tls: [503, `${REACH}no secure connection could be made`],
  reset: [503, `${REACH}the connection was broken`],
  timeout: [504, 'did not answer in time'],
  unauthorized: [502, 'does not accept the stored credentials'],
  forbidden: [502, 'does not permit this with the stored credentials'],
  'not-found': [502, 'does not know the resource'],
  conflict: [502, 'reports a conflict'],
  busy: [503, 'is too busy'],
  rejected: [502, 'rejected the request'],
  failing: [502, 'reports an internal error'],
  redirect: [502, 'answered with a redirect, which is not followed'],
  garbage: [502, 'gave an invalid answer'],
  'too-large': [502, 'gave an answer that is too large'],
  denied: [502, 'denied the certificate'],
  failed: [502, 'failed to sign the certificate'],
  unsigned: [504, 'did not sign the certificate in time'],
  'wrong-certificate': [502, 'signed a certificate that does not match the request'],
  credentials: [503, 'has unusable credentials'],
  'no-credentials': [503, 'has no stored credentials'],
  'no-role': [503, `${REACH}AWS does not give this deployment the role for it`],
  'unread-credentials': [503, 'has stored credentials that cannot be read at the moment'],
} as const satisfies Record<string, readonly [502 | 503 | 504, string]>

export type ClusterFailure = keyof typeof causes

/** The failures of this service rather than of the cluster or its credentials: a service of AWS does not answer, or refuses the role. */
const OURS: ReadonlySet<ClusterFailure> = new Set(['unread-credentials', 'no-role'])

const statuses = { 502: badGateway, 503: serviceUnavailable, 504: timeout }

/** What a cluster says that it does not have, of the things that this service asks for. */
export type Missing = 'secrets' | 'serviceaccounts' | 'namespaces'

/** A StatusError whose message names the cluster and the cause. `failure` is the code of the cause. */
export class ClusterError extends StatusError {
  readonly failure: ClusterFailure
  /** Set for `not-found`, if the answer is that of a Kubernetes API. */
  readonly missing: Missing | undefined

  constructor(status: StatusError['status'], failure: ClusterFailure, cause: unknown, missing?: Missing) {
    super(status, cause, OURS.has(failure) ? 'server' : 'virtualCluster')
    this.name = 'ClusterError'
    this.failure = failure
    this.missing = missing
  }
}

/** Reports whether the error is a ClusterError with one of these failures. */
export const isFailure = (error: unknown, ...failures: ClusterFailure[]): error is ClusterError =>
  error instanceof ClusterError && failures.includes(error.failure)

/** Reports whether a Kubernetes API says that it has no such thing. */
export const isMissing = (error: unknown, what: Missing): boolean =>
  error instanceof ClusterError && error.missing === what

/**
 * Returns the error for a failure. `cluster` is NAMESPACE/NAME of a virtual cluster, or the name of a connected one. `detail` is public,
 * so it must never quote the cluster or the secret. `cause` is for the log.
 */
export function clusterError(
  failure: ClusterFailure,
  cluster: string,
  detail = '',
  cause?: unknown,
  missing?: Missing,
): ClusterError {
  const [code, sentence] = causes[failure]
  const noun = cluster.includes('/') ? 'virtual cluster' : 'cluster'
  const message = `${noun} "${cluster}" ${sentence}${detail && `: ${detail}`}`
  return new ClusterError(statuses[code](message).status, failure, cause, missing)
}
