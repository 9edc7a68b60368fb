/**
 * Serves CertificateSigningRequests of the demo virtual cluster from memory, and signs those that are approved. It accepts what keyplane
 * sends and little else: `npm run test:cluster` has the rules of a real kube-apiserver.
 */
import { randomUUID } from 'node:crypto'
import { rfc3339 } from '../../../lib/engine/meta/encoding/time.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  forbiddenResource,
  MODIFIED,
  notFound,
} from '../../../lib/engine/meta/errors/status.ts'
import { checkPreconditions } from '../../../lib/engine/meta/object/preconditions.ts'
import { isObject } from '../../../lib/engine/meta/value/walk.ts'
import { type KeyPair, parseRequest } from '../host/certificates.ts'
import {
  API_VERSION,
  CLIENT_SIGNER,
  CSR,
  type CsrCondition,
  type CsrObject,
  type CsrRequester,
  type CsrSpec,
  type JsonMembers,
  KIND,
} from './csrobject.ts'
import { signRequest } from './csrsigner.ts'

export interface CsrApi {
  create(body: JsonMembers, requester: CsrRequester): Promise<CsrObject>
  get(name: string): CsrObject
  list(): { kind: string; apiVersion: string; metadata: { resourceVersion: string }; items: CsrObject[] }
  /** Handles PUT …/approval. `mayApprove` checks the verb `approve` on the signer. Signing follows asynchronously. */
  approve(name: string, body: JsonMembers, mayApprove: (signerName: string) => boolean): CsrObject
  /** Deletes the request and returns a Status. */
  remove(name: string, body: JsonMembers): object
}

/** How long kube-controller-manager keeps pending requests. */
const PENDING_LIFE = 24 * 3_600_000
const USAGES: readonly unknown[] = ['client auth', 'digital signature', 'key encipherment']
const DECISIONS: readonly unknown[] = ['Approved', 'Denied', 'Failed']
const LEAST_SECONDS = 600

/** `now` is in Unix milliseconds. */
export function createCsrApi(authority: KeyPair, now: () => number): CsrApi {
  const objects = new Map<string, CsrObject>()
  let revision = 1

  const store = (object: CsrObject): CsrObject => {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(++revision) } }
    objects.set(stored.metadata.name, stored)
    return stored
  }
  const find = (name: string): CsrObject => {
    const object = objects.get(name)
    if (!object) throw notFound(CSR, name)
    return object
  }

  async function sign({ metadata: { name, uid }, spec }: CsrObject): Promise<void> {
    const certificate = await signRequest(spec, authority, now())
    const latest = objects.get(name)
    if (latest?.metadata.uid === uid && isToBeSigned(latest))
      store({ ...latest, status: { ...latest.status, certificate } })
  }

  return {
    async create(body, { username, uid, groups }) {
      const { name, labels } = membersOf(body, 'metadata')
      const spec = specIn(membersOf(body, 'spec'))
      if (typeof name !== 'string' || !/^[a-z0-9][-a-z0-9.]*$/.test(name)) throw refuse('metadata.name')
      const { organizations } = await parseRequest(Buffer.from(spec.request, 'base64').toString('latin1')).catch(() => {
        throw refuse('spec.request')
      })
      // The admission plugin CertificateSubjectRestriction.
      if (organizations.includes('system:masters'))
        throw forbiddenResource(CSR, name, `use of ${CLIENT_SIGNER} signer with system:masters group is not allowed`)
      for (const [old, { metadata }] of objects)
        if (Date.parse(metadata.creationTimestamp) < now() - PENDING_LIFE) objects.delete(old)
      if (objects.has(name)) throw alreadyExists(CSR, name)
      const creationTimestamp = rfc3339(new Date(now()))
      return store({
        apiVersion: API_VERSION,
        kind: KIND,
        metadata: {
          name,
          uid: randomUUID(),
          resourceVersion: '',
          creationTimestamp,
          ...(isObject(labels) && { labels: labels as Record<string, string> }),
        },
        spec: { ...spec, username, ...(uid !== undefined && { uid }), groups },
        status: {},
      })
    },

    get: find,

    list: () => ({
      kind: `${KIND}List`,
      apiVersion: API_VERSION,
      metadata: { resourceVersion: String(revision) },
      items: [...objects.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
    }),

    approve(name, body, mayApprove) {
      const current = find(name)
      const { uid, resourceVersion } = current.metadata
      const given = membersOf(body, 'metadata')
      if (given.name !== name || given.uid !== uid || given.resourceVersion !== resourceVersion)
        throw conflict(CSR, name, MODIFIED)
      const conditions = conditionsIn(membersOf(body, 'status'), current.status.conditions)
      const { signerName } = current.spec
      // The admission plugin CertificateApproval.
      if (!mayApprove(signerName))
        throw forbiddenResource(CSR, name, `user not permitted to approve requests with signerName "${signerName}"`)
      const stored = store({ ...current, status: { ...current.status, conditions } })
      // The request was validated, so signing fails only through a bug, which must not stop the server.
      if (isToBeSigned(stored)) sign(stored).catch((error) => process.emitWarning(error))
      return stored
    },

    remove(name, body) {
      const { metadata } = find(name)
      const { uid } = membersOf(body, 'preconditions')
      checkPreconditions({ group: CSR.group, resource: KIND }, typeof uid === 'string' ? { uid } : {}, metadata)
      objects.delete(name)
      const details = { name, group: CSR.group, kind: CSR.resource, uid: metadata.uid }
      return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details }
    },
  }
}

const refuse = (field: string) => badRequest(`${KIND}: ${field} is not what this cluster accepts`)

/** Returns the object in a member, `{}` if it is absent. Throws 400 for other values. */
function membersOf(holder: JsonMembers, name: string): JsonMembers {
  const value = holder[name] ?? {}
  if (!isObject(value)) throw refuse(name)
  return value
}

/** Returns a spec that the signer can sign. Throws 400 for any other. */
function specIn({ request, signerName, expirationSeconds: seconds, usages }: JsonMembers): CsrSpec {
  if (typeof request !== 'string') throw refuse('spec.request')
  if (signerName !== CLIENT_SIGNER) throw refuse('spec.signerName')
  if (!Array.isArray(usages) || !usages.includes('client auth') || !usages.every((one) => USAGES.includes(one)))
    throw refuse('spec.usages')
  if (seconds === undefined) return { request, signerName, usages }
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < LEAST_SECONDS)
    throw refuse('spec.expirationSeconds')
  return { request, signerName, usages, expirationSeconds: seconds }
}

/** Returns the conditions that an approval sets. Throws 400 unless they are decisions, keep the earlier ones and do not contradict each other. */
function conditionsIn({ conditions: sent = [] }: JsonMembers, before: readonly CsrCondition[] = []): CsrCondition[] {
  const conditions = Array.isArray(sent) ? sent : [undefined]
  const types = conditions.map((one) => (isObject(one) && one.status === 'True' ? one.type : undefined))
  const isValid =
    types.every((type) => DECISIONS.includes(type)) &&
    new Set(types).size === types.length &&
    !(types.includes('Approved') && types.includes('Denied')) &&
    before.every(({ type }) => types.includes(type))
  if (!isValid) throw refuse('status.conditions')
  return conditions
}

/** Reports whether the request is approved, has not failed, and has no certificate. */
function isToBeSigned({ status: { conditions = [], certificate } }: CsrObject): boolean {
  const has = (type: string): boolean => conditions.some((one) => one.type === type)
  return has('Approved') && !has('Failed') && certificate === undefined
}
