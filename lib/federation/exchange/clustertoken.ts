/** Makes the token of a cluster or virtual cluster for the key of an exchange, as the kinds of this API would for that key. */

import { managementRequest, type ResourceAttributes } from '../../access/attributes/attributes.ts'
import { restrictsInside } from '../../access/restriction.ts'
import { formatPlace, type Place } from '../../access/scopes/place.ts'
import { reachesCluster } from '../../access/scopes/reachableclusters.ts'
import { lacksForToken, lackWords } from '../../access/targettokens.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { ClusterError } from '../../clusters/cluster/failure.ts'
import { Cluster, mayUseCluster } from '../../clusters/cluster.ts'
import type { Parent } from '../../clusters/kubeconfig.ts'
import {
  type AccountTarget,
  clusterTarget,
  instanceTarget,
  SHORTEST_TOKEN_SECONDS,
} from '../../clusters/serviceaccounts/target.ts'
import type { ClusterServices } from '../../clusters/services.ts'
import {
  issueToken,
  type Prepared,
  prepareClusterToken,
  prepareVirtualClusterToken,
  signatureWarnings,
} from '../../clusters/token/issuer.ts'
import { mayUseInstance, VirtualClusterInstance } from '../../clusters/virtualclusterinstance.ts'
import { checkDeadline } from '../../engine/meta/errors/deadline.ts'
import type { FieldError } from '../../engine/meta/errors/fielderror.ts'
import { StatusError } from '../../engine/meta/errors/status.ts'
import { defined } from '../../engine/meta/value/defined.ts'
import { HOUR_SECONDS } from '../../engine/meta/value/durations.ts'
import { objectKey } from '../../engine/registry/store.ts'
import type { Stored } from '../../engine/storage/interface.ts'
import { KINDS } from '../../kinds.ts'
import type { OAuthCall } from '../oauth/call.ts'
import { endedBefore, OAuthError, unavailable } from '../oauth/oautherror.ts'
import type { ExchangeServer } from './exchangeserver.ts'
import { nameOf, type Target } from './target.ts'
import type { TokenForm } from './tokenform.ts'

export interface IssuedToken {
  /** The token, or a whole kube config with it in YAML. */
  text: string
  warnings: readonly string[]
  /** If it is earlier than that of the key: clusters may shorten the life of their tokens. */
  expires?: Date
}

/** A target for which there may be tokens. */
export interface OpenTarget {
  place: Place
  /** The request of this API that makes such a token with an access key. */
  request: ResourceAttributes
  /** Whether the token is made after its key is stored, by the cluster. Otherwise it is signed before. */
  isLate: boolean
  /** The shortest life of its tokens in seconds. */
  leastSeconds: number
  /**
   * Checks what the authorizer and the kind would ask of this user. Returns what signs a token of this life in seconds, which must not
   * exceed that of the user's key. Both throw invalid_target.
   */
  prepare(user: UserInfo, seconds: number): Promise<() => Promise<IssuedToken>>
}

/** What tokens of clusters use of the server. */
type TokenServer = Pick<ExchangeServer, keyof ClusterServices | 'storage' | 'issuer'>

type TargetCall = Pick<OAuthCall, 'now' | 'deadline' | 'note'>

const refused = (why: string): OAuthError => new OAuthError('invalid_target', 'target', why)

/**
 * Reads the target, of which a connected cluster may have no object. One that does not exist is refused where one is that may not be used, so that nobody finds out with an ID token that was exchanged before.
 */
export async function openTarget(
  server: TokenServer,
  call: TargetCall,
  target: Target,
  form: TokenForm,
): Promise<OpenTarget> {
  const isWhole = form === 'kubeConfig'
  const isCluster = target.type === 'cluster'
  const namespace = isCluster ? '' : target.namespace
  const key = objectKey(namespace, target.name)
  // One text for what does not exist and what may not be used, so that nobody learns which clusters there are.
  const unusable = () =>
    refused(
      `this client_id may not have a token for ${nameOf(target)}, or it does not exist: see spec.scope of the FederatedIdentityCredential, and spec.access of the cluster`,
    )
  const kind = isCluster ? Cluster : VirtualClusterInstance
  const stored = await server.storage.get(kind.table, key)
  const accounts = stored && (isCluster ? clusterTarget : instanceTarget)(stored.object)
  // Issuer tokens of a connected cluster need no object, and its access concerns kube configs.
  const needsObject = isWhole || !isCluster || accounts !== undefined
  const { uid = '' } = stored?.object.metadata ?? {}
  const isMissing = needsObject && (stored === undefined || (!isCluster && (target.uid ?? uid) !== uid))
  const place: Place = isCluster ? target : { ...target, uid }
  call.note({ target: formatPlace(place) })

  const { subresource } = isCluster ? KINDS.ClusterKubeConfig : KINDS.VirtualClusterInstanceKubeConfig
  const request = needsObject
    ? managementRequest(kind, { verb: 'create', subresource, namespace, name: target.name })
    : managementRequest(KINDS.DirectClusterEndpointToken, { verb: 'create' })
  const mayUse = isCluster ? mayUseCluster : mayUseInstance
  return {
    place,
    request,
    isLate: accounts !== undefined,
    leastSeconds: accounts ? SHORTEST_TOKEN_SECONDS : 0,
    async prepare(user, seconds) {
      const { chain } = user
      const lacksOf = (byRule: boolean) => lacksForToken(chain, { place, request, byRule }, server.scopes)
      const isRestricted = accounts === undefined && restrictsInside(chain, place, server.scopes)
      const byRules = lacksOf(true)
      const lacks = byRules.length > 0 || !isRestricted || (await isEnforced(server)) ? byRules : lacksOf(false)
      const missing = lackWords(lacks, chain)
      if (missing.length > 0) call.note({ missing })
      const isReached = place.type !== 'cluster' || reachesCluster(chain, place.name)
      // The scopes are judged above: here a rule about requests inside of the place is enough.
      const isUsable = !needsObject || (stored && mayUse(server, stored, { ...user, chain: [] }))
      if (isMissing || lacks.length > 0 || !isReached || !isUsable) throw unusable()
      return explained(() =>
        stored && (isWhole || accounts)
          ? parentSigner(server, call, { stored, place, accounts, user, seconds, isWhole })
          : tokenSigner(server, call, prepareToken(server, call, place, user, seconds)),
      )
    },
  }
}

/**
 * Reports whether every cluster that accepts tokens of this service asks it about their scopes. Those that read nothing but issuer,
 * audience, user and groups do not, and accept no other signature than RS256.
 */
const isEnforced = async ({ tokens: { signer } }: Pick<TokenServer, 'tokens'>): Promise<boolean> =>
  (await signatureWarnings(signer)).length === 0

/** Passes on the refusals of the kinds as invalid_target. The caller may use the target, so they may say why. */
async function explained<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 401) throw endedBefore()
    if (error instanceof StatusError && error.status.code === 429)
      throw unavailable('cluster', String(error.status.message), {
        ...defined({ retryAfter: error.status.details?.retryAfterSeconds }),
        cause: error,
      })
    if (error instanceof StatusError && error.status.code < 500) throw refused(String(error.status.message))
    if (error instanceof ClusterError) throw unavailable('cluster', String(error.status.message), { cause: error })
    throw error
  }
}

const textOf = (errors: readonly FieldError[]): string => errors.map(({ message }) => message).join('; ')

function prepareToken(
  { tokens }: TokenServer,
  { now }: TargetCall,
  place: Place,
  user: UserInfo,
  seconds: number,
): Prepared {
  if (place.type === 'virtualCluster')
    return prepareVirtualClusterToken({ user, cluster: place, seconds, now }, tokens.settings)
  const scope = { clusters: [{ cluster: place.name }] }
  const prepared = prepareClusterToken({ user, ttl: seconds, scope, now }, tokens.settings)
  if ('errors' in prepared) throw refused(textOf(prepared.errors))
  return prepared
}

function tokenSigner({ tokens: { signer } }: TokenServer, { deadline, note }: TargetCall, prepared: Prepared) {
  return async (): Promise<IssuedToken> => {
    const warnings = [...prepared.warnings, ...(await signatureWarnings(signer))]
    const { jti, aud: audiences } = prepared.claims
    // Record the ID before signing: otherwise a token could exist whose ID is in no audit record.
    note({ jti, audiences })
    checkDeadline(deadline)
    return { text: (await issueToken(prepared, signer)).token, warnings }
  }
}

/** The least life that a request for a kube config may name. The end of the key shortens it. */
const LEAST_SECONDS = 60

interface ParentRequest {
  stored: Stored
  place: Place
  accounts: AccountTarget | undefined
  user: UserInfo
  seconds: number
  isWhole: boolean
}

/** Returns what makes a kube config of the target, or only its token if the cluster makes that. Checks first what needs no cluster. */
async function parentSigner(
  server: TokenServer,
  { now, deadline, note }: TargetCall,
  { stored: { object }, place: { type }, accounts, user, seconds, isWhole }: ParentRequest,
) {
  // Of accounts, all requests ask for one length, so that they share a Secret. The end of the key shortens them.
  const ttl = accounts ? Math.min(HOUR_SECONDS, server.tokens.settings.maxSeconds) : Math.max(seconds, LEAST_SECONDS)
  const spec = type === 'cluster' ? { ttl } : { certificateTTL: ttl }
  const { parentOf } = await import('../../clusters/parent.ts')
  const parent = parentOf({ type, object, spec, user, now, deadline }, server)
  if (accounts) await parent.issue({ dryRun: true })
  return () => explained(() => (isWhole ? wholeOf(server, parent, user, note) : tokenOf(parent, note)))
}

async function wholeOf(
  server: TokenServer,
  parent: Parent,
  user: UserInfo,
  note: TargetCall['note'],
): Promise<IssuedToken> {
  const { createKubeConfig } = await import('../../clusters/kubeconfig.ts')
  const made = await createKubeConfig(parent, { user, issuer: server.issuer, dryRun: false })
  if ('errors' in made) throw refused(textOf(made.errors))
  const { kubeConfig, warnings, facts, expirationTimestamp } = made
  if (kubeConfig === undefined || expirationTimestamp === undefined)
    throw new Error('a kube config that was not signed')
  note({ ...facts })
  return { text: kubeConfig, warnings, expires: new Date(expirationTimestamp) }
}

async function tokenOf(parent: Parent, note: TargetCall['note']): Promise<IssuedToken> {
  const made = await parent.issue({ dryRun: false })
  if (made.user === undefined || !('token' in made.user)) throw new Error('a cluster token that was not made')
  const { user, warnings, facts, expires } = made
  note({ ...facts })
  return { text: user.token, warnings, ...(expires && { expires }) }
}
