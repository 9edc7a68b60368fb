/** Creates, approves, reads and deletes CertificateSigningRequests of a virtual cluster (certificates.k8s.io/v1). */
import type { JsonObject } from '../../engine/meta/types.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { clusterError, isFailure } from '../cluster/failure.ts'
import { memberOf } from '../cluster/members.ts'

export const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const APPROVER = 'KeyplaneKubeConfig'

/** Other writers, such as a controller that adds labels, may cause conflicts, but not this often. */
const APPROVAL_ATTEMPTS = 4
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000

interface SigningRequestSpec {
  /** PEM. */
  request: string
  /** When absent, the cluster uses its default signing duration. */
  seconds?: number
  labels: Readonly<Record<string, string>>
}

export interface SigningServices {
  client: ClusterClient
  /** Aborts every operation of this module. */
  signal: AbortSignal
  /** Resolves after `ms`, or at once when the signal aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** A created request: the cluster's verified answer to its creation. */
interface Created {
  name: string
  uid: string
  spec: JsonObject
  object: JsonObject
}

/** Creates the request under an unpredictable name. */
export async function createSigningRequest(
  name: string,
  spec: SigningRequestSpec,
  services: SigningServices,
): Promise<Created> {
  const wanted = {
    request: Buffer.from(spec.request).toString('base64'),
    signerName: 'kubernetes.io/kube-apiserver-client',
    ...(spec.seconds !== undefined && { expirationSeconds: spec.seconds }),
    usages: ['client auth'],
  }
  const body = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, labels: spec.labels },
    spec: wanted,
  }
  const { client, signal } = services
  const object = await client.send({ method: 'POST', path: PATH, body, signal })
  const uid = memberOf(object.metadata, 'uid')
  // Only the requested object may be approved; a webhook may have changed it.
  if (typeof uid !== 'string' || uid === '' || !sameRequest(object, name, uid, wanted)) {
    throw clusterError('garbage', client.name, 'the CertificateSigningRequest is not the one that was created')
  }
  return { name, uid, spec: wanted, object }
}

/** Approves exactly the created request, unless it is already approved. */
export async function approveSigningRequest(created: Created, services: SigningServices): Promise<void> {
  const { client, signal } = services
  let object = created.object
  for (let attempt = 1; ; attempt++) {
    if (isApproved(object, client)) return
    const now = [...conditions(object), { type: 'Approved', status: 'True', reason: APPROVER, message: MESSAGE }]
    const body = { ...object, status: { ...(isObject(object.status) && object.status), conditions: now } }
    try {
      await client.send({ method: 'PUT', path: `${PATH}/${created.name}/approval`, body, signal })
      return
    } catch (error) {
      if (!isFailure(error, 'conflict') || attempt === APPROVAL_ATTEMPTS) throw error
    }
    object = await read(created, services)
  }
}

const MESSAGE = 'Requested through the management API by a user who may create kube configs.'

/**
 * Returns the signed certificate as PEM. Rejects with `unsigned` when the signal aborts the wait: between two reads, or during one
 * of a cluster that has answered before.
 */
export async function awaitCertificate(created: Created, services: SigningServices): Promise<string> {
  const { client, signal, sleep } = services
  const unsigned = (cause?: unknown) => clusterError('unsigned', client.name, '', cause)
  for (let pause = FIRST_PAUSE_MS, reads = 0; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS), reads++) {
    const object = await read(created, services).catch((error) => {
      throw reads > 0 && signal.aborted && isFailure(error, 'timeout') ? unsigned(error) : error
    })
    isApproved(object, client)
    const certificate = memberOf(object.status, 'certificate')
    if (typeof certificate === 'string' && certificate !== '')
      return Buffer.from(certificate, 'base64').toString('utf8')
    await sleep(pause, signal)
    if (signal.aborted) throw unsigned()
  }
}

/** Deletes the request that `createSigningRequest` created or may have created. Succeeds when it is already gone. */
export async function removeSigningRequest(
  name: string,
  uid: string | undefined,
  services: SigningServices,
): Promise<void> {
  const { client, signal, sleep } = services
  const body = { apiVersion: 'v1', kind: 'DeleteOptions', ...(uid !== undefined && { preconditions: { uid } }) }
  for (let pause = FIRST_PAUSE_MS; ; pause *= 2) {
    try {
      await client.send({ method: 'DELETE', path: `${PATH}/${name}`, body, signal })
      return
    } catch (error) {
      // A conflict means that the uid differs: another request now has the name.
      if (isFailure(error, 'not-found', 'conflict')) return
      if (!isFailure(error, 'busy', 'failing', 'reset', 'refused')) throw error
      await sleep(pause, signal)
      if (signal.aborted) throw error
    }
  }
}

async function read({ name, uid, spec }: Created, { client, signal }: SigningServices): Promise<JsonObject> {
  const object = await client.send({ method: 'GET', path: `${PATH}/${name}`, signal })
  if (!sameRequest(object, name, uid, spec)) {
    throw clusterError('garbage', client.name, 'the CertificateSigningRequest is not the one that was created')
  }
  return object
}

/** Reports whether the request is approved. Throws when it is denied or the signer has failed, which are both final. */
function isApproved(object: JsonObject, client: ClusterClient): boolean {
  const types = conditions(object).map((one) => memberOf(one, 'type'))
  if (types.includes('Denied')) throw clusterError('denied', client.name)
  if (types.includes('Failed')) throw clusterError('failed', client.name)
  return types.includes('Approved')
}

function conditions(object: JsonObject): unknown[] {
  const found = memberOf(object.status, 'conditions')
  return Array.isArray(found) ? found : []
}

function sameRequest(object: JsonObject, name: string, uid: string, wanted: JsonObject): boolean {
  const { metadata, spec } = object
  const same = ['request', 'signerName', 'expirationSeconds', 'usages'].every(
    (field) => JSON.stringify(memberOf(spec, field)) === JSON.stringify(wanted[field]),
  )
  return same && memberOf(metadata, 'name') === name && memberOf(metadata, 'uid') === uid
}
