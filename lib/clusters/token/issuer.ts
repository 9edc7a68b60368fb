/** Validates token requests and issues signed tokens. */

import { restrictsInside } from '../../access/restriction.ts'
import { validateChain, withScope } from '../../access/scopes/chain.ts'
import type { NamedPlace } from '../../access/scopes/place.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import type { Scope, ScopeChain } from '../../access/scopes/scope.ts'
import { endOfAccess } from '../../access/users/outliving.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { type FieldError, forbidden } from '../../engine/meta/errors/fielderror.ts'
import { forbiddenPath } from '../../engine/meta/errors/status.ts'
import { clusterAudiences, placeOfAudience, virtualClusterAudience } from './audience.ts'
import { type Claims, claimsFor } from './claims.ts'
import { MAX_TOKEN_LENGTH, signToken, tokenLength } from './jwt.ts'
import type { Signer } from './signer.ts'
import { limitToKey, tokenLifetime } from './tokenlifetime.ts'

export interface IssuerSettings extends ScopeOptions {
  /** See `checkIssuer`. */
  issuer: string
  /** Deploy-time maximum of a token's life. */
  maxSeconds: number
  uuid(): string
}

/** A validated token, ready to be signed. */
export interface Prepared {
  claims: Claims
  warnings: string[]
}

interface Token {
  token: string
  expires: Date
}

/** A request for a token that is used directly with connected clusters. */
export interface ClusterTokenRequest {
  user: UserInfo
  /** Seconds. */
  ttl?: number | bigint
  scope?: Scope
  now: Date
}

/**
 * Prepares a token for the clusters that both the key's scopes and the requested scope allow. A chain that reaches no
 * cluster is a field error, because the token would grant nothing. Throws 401 for an invalid key and 403 for a
 * `system:` user.
 */
export function prepareClusterToken(
  { user, ttl, scope, now }: ClusterTokenRequest,
  settings: IssuerSettings,
): Prepared | { errors: FieldError[] } {
  const chain = withScope(user.chain, scope)
  const lifetime = tokenLifetime('spec.ttl', ttl, { maxSeconds: settings.maxSeconds, key: endOfAccess(user), now })
  const errors = validateChain(chain)
  // A chain that exceeds its limits is not evaluated further.
  const audiences = errors.length > 0 ? [] : clusterAudiences(settings.issuer, chain)
  if (errors.length === 0 && audiences.length === 0) errors.push(forbidden('spec.scope', noCluster(scope, user)))
  if ('error' in lifetime) errors.unshift(lifetime.error)
  if (errors.length > 0 || 'error' in lifetime) return { errors }
  const place = audiences.length === 1 ? placeOfAudience(settings.issuer, audiences[0] ?? '') : undefined
  const claims = claimsFor({ user, chain: chainAt(place, chain, settings), audiences, lifetime, now }, settings)
  if (tokenLength(claims) > MAX_TOKEN_LENGTH) return { errors: [forbidden('spec.scope', TOO_LARGE)] }
  return { claims, warnings: lifetime.warnings }
}

/** The virtual cluster of a kube config. */
interface ClusterSubject {
  namespace: string
  name: string
  uid: string
}

/**
 * Prepares a token for one virtual cluster, valid for at most `seconds` (already validated: see lib/clusters/ttl.ts).
 * Throws 401 for an invalid key. Throws 403 for a `system:` user and for a user whose scopes and groups do not fit a
 * header.
 */
export function prepareVirtualClusterToken(
  { user, cluster, seconds, now }: { user: UserInfo; cluster: ClusterSubject; seconds: number; now: Date },
  settings: Pick<IssuerSettings, 'issuer' | 'uuid' | 'projectNamespacePrefix'>,
): Prepared {
  const audiences = [virtualClusterAudience(settings.issuer, cluster.namespace, cluster.name, cluster.uid)]
  const lifetime = limitToKey(seconds, { key: endOfAccess(user), now })
  const chain = chainAt({ type: 'virtualCluster', ...cluster }, user.chain, settings)
  const claims = claimsFor({ user, chain, audiences, lifetime, now }, settings)
  if (tokenLength(claims) > MAX_TOKEN_LENGTH) throw forbiddenPath(TOO_LARGE)
  return { claims, warnings: lifetime.warnings }
}

/**
 * Returns the chain that a token for this place has: none if no scope of it restricts anything there, so that a cluster can tell these
 * tokens from others while it cannot ask. A token for several places has the chain as it is.
 */
const chainAt = (place: NamedPlace | undefined, chain: ScopeChain, options: ScopeOptions): ScopeChain =>
  place && !restrictsInside(chain, place, options) ? [] : chain

/** Signs a prepared token. Rejects with the signer's StatusError (503). */
export async function issueToken({ claims }: Prepared, signer: Signer): Promise<Token> {
  return { token: await signToken(claims, signer), expires: new Date(claims.exp * 1000) }
}

/**
 * Warns of a signature that API servers accept which read nothing but issuer, audience, user and groups, such as those of EKS. Rejects
 * with the signer's StatusError (503).
 */
export async function signatureWarnings(signer: Signer): Promise<string[]> {
  const [{ alg }] = await signer.keys()
  return alg === 'RS256' ? [ONLY_IDENTITY] : []
}

function noCluster(scope: Scope | undefined, { chain }: UserInfo): string {
  const instead = withScope(chain, scope).some(namesVirtualClusters) ? `; ${KUBE_CONFIG}` : ''
  if (chain.length === 0) return `allows no connected cluster for the token: list clusters or spaces${instead}`
  return scope
    ? `together with the scope of the access key, allows no connected cluster for the token${instead}`
    : `the scope of the access key allows no connected cluster for the token${instead}`
}

const namesVirtualClusters = ({ virtualClusters = [], rules = [] }: Scope): boolean =>
  [virtualClusters, ...rules.map((rule) => rule.virtualClusters ?? [])].some((list) => list.length > 0)

const KUBE_CONFIG =
  'for a virtual cluster create a kube config, which has a token for it: POST …/virtualclusterinstances/NAME/kubeconfig'

const ONLY_IDENTITY =
  'a cluster that knows this issuer only from --oidc flags, as EKS does, enforces no scopes and accepts the token until it expires'

const TOO_LARGE = `scopes and groups make a token of more than ${MAX_TOKEN_LENGTH} characters, which does not fit a request header`
