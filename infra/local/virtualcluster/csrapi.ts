/**
 * Serves CertificateSigningRequests of the demo virtual cluster from memory (create, get, approve, delete) and runs the signing
 * controller. Validates at least as strictly as kube-apiserver, in the same order and with the same messages.
 */
import { randomUUID } from 'node:crypto'
import { rfc3339 } from '../../../lib/meta/encoding/time.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  forbiddenResource,
  invalidObject,
  MODIFIED,
  notFound,
  plainError,
} from '../../../lib/meta/errors/status.ts'
import { checkPreconditions } from '../../../lib/meta/object/preconditions.ts'
import type { KeyPair } from '../host/certificates.ts'
import { checkKind, type JsonMembers, objectOf, readConditions, readSpec, textMapOf, textOf } from './csrinput.ts'
import {
  API_VERSION,
  CLIENT_SIGNER,
  CSR,
  type CsrCondition,
  type CsrObject,
  type CsrRequester,
  KIND,
} from './csrobject.ts'
import { signApproved } from './csrsigner.ts'
import { validateApproval, validateMetadata, validateSpec } from './csrvalidation.ts'

export interface CsrApi {
  create(body: JsonMembers, requester: CsrRequester, options: CsrWriteOptions): Promise<CsrObject>
  get(name: string): CsrObject
  list(): { kind: string; apiVersion: string; metadata: { resourceVersion: string }; items: CsrObject[] }
  /** Handles PUT …/approval. `mayApprove` checks the verb `approve` on the signer. Signing follows asynchronously. */
  approve(
    name: string,
    body: JsonMembers,
    mayApprove: (signerName: string) => boolean,
    options: CsrWriteOptions,
  ): CsrObject
  /** Deletes the request and returns a Status. */
  remove(name: string, body: JsonMembers, options: CsrWriteOptions): object
}

export interface CsrWriteOptions {
  /** Validates without making the change. */
  dryRun: boolean
}

/** How long kube-controller-manager keeps pending requests. */
const PENDING_LIFE = 24 * 3_600_000

/** `now` is in Unix milliseconds. */
export function createCsrApi(authority: KeyPair, now: () => number): CsrApi {
  const objects = new Map<string, CsrObject>()
  let revision = 1

  const store = (object: CsrObject, { dryRun }: CsrWriteOptions = { dryRun: false }): CsrObject => {
    if (dryRun) return object
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++revision) } }
    objects.set(stored.metadata.name, stored)
    return stored
  }
  const find = (name: string): CsrObject => {
    const object = objects.get(name)
    if (!object) throw notFound(CSR, name)
    return object
  }
  const time = (): string => rfc3339(new Date(now()))

  async function sign({ metadata: { name, uid }, spec }: CsrObject): Promise<void> {
    const outcome = await signApproved(spec, authority, now())
    const latest = objects.get(name)
    if (latest?.metadata.uid !== uid || latest.status.certificate !== undefined) return
    const { conditions = [] } = latest.status
    if (conditions.some(({ type }) => type === 'Denied' || type === 'Failed')) return
    const status =
      'failed' in outcome
        ? { conditions: [...conditions, outcome.failed] }
        : { conditions, certificate: outcome.certificate }
    store({ ...latest, status })
  }

  return {
    async create(body, { username, uid, groups }, options) {
      checkKind(body)
      const metadata = objectOf(body, 'metadata')
      const name = nameOf(metadata)
      const spec = readSpec(objectOf(body, 'spec'))
      const labels = textMapOf(metadata, 'labels')
      const annotations = textMapOf(metadata, 'annotations')
      if (textOf(metadata, 'resourceVersion') !== '')
        throw plainError('resourceVersion should not be set on objects to be created')
      const { errors, organizations } = await validateSpec(spec)
      const all = [...validateMetadata(name, labels, annotations), ...errors]
      if (all.length > 0) throw invalidObject(CSR.group, KIND, name, all)
      // The admission plugin CertificateSubjectRestriction.
      if (spec.signerName === CLIENT_SIGNER && organizations.includes('system:masters'))
        throw forbiddenResource(CSR, name, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`)
      for (const [old, { metadata }] of objects)
        if (Date.parse(metadata.creationTimestamp) < now() - PENDING_LIFE) objects.delete(old)
      if (objects.has(name)) throw alreadyExists(CSR, name)
      const object: CsrObject = {
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: {
          name,
          uid: randomUUID(),
          resourceVersion: '',
          creationTimestamp: time(),
          ...(Object.keys(labels).length > 0 && { labels }),
          ...(Object.keys(annotations).length > 0 && { annotations }),
        },
        spec: { ...spec, username, ...(uid !== undefined && { uid }), groups },
        status: {},
      }
      return store(object, options)
    },

    get: find,

    list: () => ({
      kind: `${KIND}List`,
      apiVersion: API_VERSION,
      metadata: { resourceVersion: String(revision) },
      items: [...objects.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    }),

    approve(name, body, mayApprove, options) {
      checkKind(body)
      const metadata = objectOf(body, 'metadata')
      const given = textOf(metadata, 'name')
      if (given !== name)
        throw badRequest(
          given === ''
            ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
            : `the name of the object (${given}) does not match the name on the URL (${name})`,
        )
      const current = find(name)
      const { uid, resourceVersion } = current.metadata
      const [wantedUid, wantedVersion] = [textOf(metadata, 'uid'), textOf(metadata, 'resourceVersion')]
      if (wantedUid !== '' && wantedUid !== uid)
        throw conflict(CSR, name, `Precondition failed: UID in precondition: ${wantedUid}, UID in object meta: ${uid}`)
      if (!['', '0', resourceVersion].includes(wantedVersion)) throw conflict(CSR, name, MODIFIED)
      const before = current.status.conditions ?? []
      const after = withTimes(readConditions(objectOf(body, 'status')), before, time())
      const errors = validateApproval(before, after)
      if (errors.length > 0) throw invalidObject(CSR.group, KIND, name, errors)
      const { signerName } = current.spec
      // The admission plugin CertificateApproval.
      if (!mayApprove(signerName))
        throw forbiddenResource(CSR, name, `user not permitted to approve requests with signerName "${signerName}"`)
      const stored = store({ ...current, status: { ...current.status, conditions: after } }, options)
      const has = (type: string): boolean => after.some((one) => one.type === type)
      if (
        !options.dryRun &&
        signerName === CLIENT_SIGNER &&
        has('Approved') &&
        !has('Failed') &&
        !stored.status.certificate
      )
        // The request was validated, so signing fails only through a bug, which must not stop the server.
        sign(stored).catch((error) => process.emitWarning(error))
      return stored
    },

    remove(name, body, options) {
      const { metadata } = find(name)
      const wanted = objectOf(body, 'preconditions')
      const [uid, resourceVersion] = ['uid', 'resourceVersion'].map((member) => textOf(wanted, member) || undefined)
      checkPreconditions({ group: CSR.group, resource: KIND }, { uid, resourceVersion }, metadata)
      if (!options.dryRun) objects.delete(name)
      const details = { name, group: CSR.group, kind: CSR.resource, uid: metadata.uid }
      return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    },
  }
}

const nameOf = (metadata: JsonMembers): string => {
  const prefix = textOf(metadata, 'generateName')
  return textOf(metadata, 'name') || (prefix && `${prefix}${randomUUID().slice(0, 5)}`)
}

/** Sets the current time on new conditions. */
const withTimes = (after: CsrCondition[], before: readonly CsrCondition[], time: string): CsrCondition[] =>
  after.map((condition) => {
    const old = before.find(({ type }) => type === condition.type)
    return {
      ...condition,
      lastUpdateTime: condition.lastUpdateTime ?? time,
      lastTransitionTime: old?.lastTransitionTime ?? time,
    }
  })
