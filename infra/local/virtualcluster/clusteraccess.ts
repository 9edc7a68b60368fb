/** Authenticates and authorizes requests to the demo virtual cluster, with a small part of Kubernetes RBAC. */
import type { TLSSocket } from 'node:tls'
import { AUTHENTICATED } from '../../../lib/access/users/identity.ts'
import { unauthorized } from '../../../lib/engine/meta/errors/status.ts'
import { constantTimeEqual } from '../../../lib/keys/credential/constanttime.ts'
import { bearerToken } from '../../../lib/keys/requests/bearertoken.ts'
import { subjectOf } from '../host/certificates.ts'
import { CLIENT_SIGNER, CSR } from './csrobject.ts'

export interface ClusterUser {
  name: string
  uid?: string
  groups: readonly string[]
  extra?: Readonly<Record<string, readonly string[]>>
}

/** Returns the user of a JWT that is valid for this virtual cluster, otherwise undefined. */
export type VerifyToken = (token: string) => Promise<ClusterUser | undefined>

/** The roles of the virtual cluster's built-in users, each with a token. */
export const ROLES = ['manager', 'approver', 'requester'] as const
export type Role = (typeof ROLES)[number]

export interface AccessAttributes {
  verb: string
  group: string
  /** Resource with its subresource, such as `certificatesigningrequests/approval`. */
  resource: string
  name: string
  /** Empty for cluster-scoped resources. */
  namespace: string
}

/** A name that no keyplane token can contain. */
const ROLE_PREFIX = 'system:keyplane:'
const ANONYMOUS: ClusterUser = { name: 'system:anonymous', groups: ['system:unauthenticated'] }

/**
 * Authenticates a request. A client certificate takes precedence over a token, as in kube-apiserver. Throws 401 for an invalid
 * credential; a request without credentials is anonymous.
 */
export async function authenticateClient(
  socket: TLSSocket,
  authorization: string | undefined,
  tokens: Readonly<Record<Role, string>>,
  verifyToken: VerifyToken,
  now: number,
): Promise<ClusterUser> {
  const { raw, valid_to } = socket.getPeerCertificate()
  if (raw !== undefined) {
    // A connection may outlive the certificate that opened it.
    if (!socket.authorized || Date.parse(valid_to) <= now) throw unauthorized()
    const { commonName, organizations } = subjectOf(raw)
    if (commonName === '') throw unauthorized()
    return known({ name: commonName, groups: organizations })
  }
  const token = bearerToken(authorization === undefined ? undefined : [authorization])
  if (token === undefined) {
    if (authorization !== undefined) throw unauthorized()
    return ANONYMOUS
  }
  const role = ROLES.find((one) => constantTimeEqual(tokens[one], token))
  if (role !== undefined) return known({ name: `${ROLE_PREFIX}${role}`, groups: [] })
  const user = await verifyToken(token)
  if (!user || [user.name, ...user.groups].some((name) => name.startsWith('system:'))) throw unauthorized()
  return known(user)
}

const known = (user: ClusterUser): ClusterUser => ({ ...user, groups: [...new Set([...user.groups, AUTHENTICATED])] })

interface Rule {
  verbs: readonly string[]
  group: string
  resources: readonly string[]
}

const READ_AND_WRITE_REQUESTS: Rule = {
  verbs: ['create', 'get', 'list', 'delete'],
  group: CSR.group,
  resources: [CSR.resource],
}
const UPDATE_APPROVAL: Rule = { verbs: ['update'], group: CSR.group, resources: [`${CSR.resource}/approval`] }

/** `approver` may update approvals but approve for no signer; `requester` may not update them either. */
const BY_ROLE: Readonly<Record<Role, readonly Rule[]>> = {
  manager: [READ_AND_WRITE_REQUESTS, UPDATE_APPROVAL, { verbs: ['approve'], group: CSR.group, resources: ['signers'] }],
  approver: [READ_AND_WRITE_REQUESTS, UPDATE_APPROVAL],
  requester: [READ_AND_WRITE_REQUESTS],
}

/** Permissions of authenticated users: system:basic-user and, in the demo, `view`. */
const EVERYBODY: readonly Rule[] = [
  { verbs: ['create'], group: 'authentication.k8s.io', resources: ['selfsubjectreviews'] },
  { verbs: ['get', 'list'], group: '', resources: ['namespaces', 'pods'] },
]

/** `approve` on signers applies to kubernetes.io/kube-apiserver-client only. */
export function mayDo(
  user: ClusterUser,
  { verb, group, resource, name }: Omit<AccessAttributes, 'namespace'>,
): boolean {
  if (user.groups.includes('system:masters')) return true
  if (!user.groups.includes(AUTHENTICATED)) return false
  const role = ROLES.find((one) => `${ROLE_PREFIX}${one}` === user.name)
  const rules = [...EVERYBODY, ...(role ? BY_ROLE[role] : [])]
  return rules.some(
    (rule) =>
      rule.verbs.includes(verb) &&
      rule.group === group &&
      rule.resources.includes(resource) &&
      (resource !== 'signers' || name === CLIENT_SIGNER),
  )
}

const PUBLIC = ['/version', '/healthz', '/livez', '/readyz']

/** Paths of system:public-info-viewer and system:discovery. */
export const mayRead = ({ groups }: ClusterUser, path: string): boolean =>
  PUBLIC.includes(path) || (groups.includes(AUTHENTICATED) && /^\/apis?(\/|$)/.test(path))
