/** Issues client certificates through a virtual cluster's own signer and cleans up afterwards. */

import { ClusterError, clusterError, isFailure } from '../cluster/failure.ts'
import { createCertificateRequest } from './certificaterequest.ts'
import { checkIssuedCertificate, type IssuedCertificate } from './issued.ts'
import {
  approveSigningRequest,
  awaitCertificate,
  createSigningRequest,
  removeSigningRequest,
  type SigningServices,
} from './signingrequest.ts'

export interface CertificateOrder {
  user: string
  groups: readonly string[]
  /** The requested duration. When absent, the signer uses its default. */
  seconds?: number
  maxSeconds?: number
  /** Labels of the CertificateSigningRequest, which explain it to anyone who finds it. */
  labels: Readonly<Record<string, string>>
}

export interface CertificateServices extends SigningServices {
  /** Returns a signal that aborts after `ms`. */
  deadline(ms: number): AbortSignal
  now(): Date
  uuid(): string
}

export interface ClientCertificate extends IssuedCertificate {
  /** PEM, PKCS#8. It exists only here and in the response. */
  key: string
  warnings: string[]
}

/** Time limit for cleaning up after the signal. With the wait (15 s) it stays below a handler's timeout of 20 s. */
const CLEANUP_MS = 3000

/**
 * Creates, approves and awaits a CertificateSigningRequest, checks the certificate, and always deletes the request.
 * Rejects with a ClusterError. If the request could not be deleted, the error message or a warning says so.
 */
export async function issueClientCertificate(
  order: CertificateOrder,
  services: CertificateServices,
): Promise<ClientCertificate> {
  const { client } = services
  const name = `keyplane-${services.uuid()}`
  const { key, request } = await createCertificateRequest(order.user, order.groups)
  let uid: string | undefined
  try {
    const created = await createSigningRequest(name, { request, ...order }, services)
    uid = created.uid
    await approveSigningRequest(created, services)
    const pem = await awaitCertificate(created, services)
    const issued = checkIssuedCertificate(pem, { key, now: services.now(), ...order })
    if ('problem' in issued) throw clusterError('wrong-certificate', client.name, issued.problem)
    return { ...issued, key, warnings: await cleanUp(name, uid, services) }
  } catch (error) {
    const mayExist = uid !== undefined || !(error instanceof ClusterError) || isFailure(error, ...UNCERTAIN)
    const [left] = mayExist ? await cleanUp(name, uid, services) : []
    throw left !== undefined && error instanceof ClusterError ? withRemark(error, left) : error
  }
}

/** After these failures, the request may or may not exist. After any other failure of the cluster it does not. */
const UNCERTAIN = ['timeout', 'reset', 'failing', 'garbage', 'too-large'] as const

async function cleanUp(name: string, uid: string | undefined, services: CertificateServices): Promise<string[]> {
  try {
    await removeSigningRequest(name, uid, { ...services, signal: services.deadline(CLEANUP_MS) })
    return []
  } catch {
    return [`the CertificateSigningRequest "${name}" could not be deleted from the virtual cluster`]
  }
}

const withRemark = ({ status, failure, cause }: ClusterError, remark: string) =>
  new ClusterError({ ...status, message: `${status.message}; ${remark}` }, failure, cause)
