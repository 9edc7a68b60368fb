/** A client certificate from a virtual cluster's own signer, with nothing left behind. */

import type { ClusterClient } from '../cluster/client.ts'
import { ClusterError, clusterError } from '../cluster/failure.ts'
import { checkIssuedCertificate } from './issued.ts'
import { createCertificateRequest } from './request.ts'
import { approve, awaitCertificate, create, isFailure, remove } from './signingrequest.ts'

export interface CertificateOrder {
  user: string
  groups: readonly string[]
  /** Asked of the signer; absent = its own duration. */
  seconds?: number
  maxSeconds?: number
  /** Of the CertificateSigningRequest, for whoever finds one. */
  labels: Readonly<Record<string, string>>
}

export interface CertificateServices {
  client: ClusterClient
  /** Ends the wait for a certificate. */
  signal: AbortSignal
  /** A signal that aborts after `ms`. */
  deadline(ms: number): AbortSignal
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
  now(): Date
  uuid(): string
}

export interface ClientCertificate {
  /** PEM, with the chain that the signer gave. */
  certificate: string
  /** PEM, PKCS#8. Exists here and in the answer, and nowhere else. */
  key: string
  /** The real end, which the signer may have moved. */
  notAfter: Date
  /** Hexadecimal. */
  serial: string
  warnings: string[]
}

/** What cleaning up may take beyond the signal: with the wait (15 s) it stays below the 20 s of a handler. */
const CLEANUP_MS = 3000

/**
 * Creates, approves and awaits a CertificateSigningRequest, checks what comes back and deletes the request, whatever
 * happened. Rejects with a ClusterError; if the request could not be deleted, that is part of the message, or a warning.
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
    const created = await create(name, { request, ...order }, services)
    uid = created.uid
    await approve(created, services)
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

/** After these nobody knows whether the request was created; after all other failures of the cluster it was not. */
const UNCERTAIN = ['timeout', 'reset', 'failing', 'garbage', 'too-large'] as const

async function cleanUp(name: string, uid: string | undefined, services: CertificateServices): Promise<string[]> {
  try {
    await remove(name, uid, { ...services, signal: services.deadline(CLEANUP_MS) })
    return []
  } catch {
    return [`the CertificateSigningRequest "${name}" could not be deleted from the virtual cluster`]
  }
}

const withRemark = ({ status, failure, cause }: ClusterError, remark: string) =>
  new ClusterError({ ...status, message: `${status.message}; ${remark}` }, failure, cause)
