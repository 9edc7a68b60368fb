/** Makes the tokens of clusters and virtual clusters for the key of an exchange, as the kinds of this API would for that key. */

import { managementRequest, type ResourceAttributes } from '../../access/attributes/attributes.ts'
import { restrictsInside } from '../../access/restriction.ts'
import { formatPlace, type Place, parsePlace } from '../../access/scopes/place.ts'
import { reachesCluster } from '../../access/scopes/reachableclusters.ts'
import type { Scope } from '../../access/scopes/scope.ts'
import { lacksForToken, lackWords } from '../../access/targettokens.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { ClusterError } from '../../clusters/cluster/failure.ts'
import { Cluster, mayUseCluster } from '../../clusters/cluster.ts'
import type { ConfigParts } from '../../clusters/configtext.ts'
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
import { MOST_TARGETS, NAMED_CLUSTERS, nameOf, type Target, type Targets } from './target.ts'
import type { TokenForm } from './tokenform.ts'

export type IssuedToken = { token: string } & Issued
/** What a kube config says about a target. */
type IssuedEntry = { parts: ConfigParts } & Issued

interface Issued {
  warnings: readonly string[]
  /** If it is earlier than that of the key: clusters may shorten the life of their tokens. */
  expires?: Date
}

/** Signs or requests a token. */
type Issue = () => Promise<IssuedToken | IssuedEntry>

/** What an exchange answers: the token, or a whole kube config in YAML. */
export interface Written extends Issued {
  text: string
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
  /** Checks what the authorizer would ask of this user. Throws invalid_target. */
  check(user: UserInfo): Promise<void>
  /**
   * Checks what the kind would ask of this user, who was checked before. Returns what signs a token of this life in seconds, which must not
   * exceed that of the user's key. Both throw invalid_target.
   */
  prepare(user: UserInfo, seconds: number): Promise<Issue>
}

/** What tokens of clusters use of the server. */
type TokenServer = Pick<ExchangeServer, keyof ClusterServices | 'storage' | 'issuer'>

type TargetCall = Pick<OAuthCall, 'now' | 'deadline' | 'note'>

const refused = (why: string): OAuthError => new OAuthError('invalid_target', 'target', why)

const kindOf = ({ type }: Target) => (type === 'cluster' ? Cluster : VirtualClusterInstance)
const keyOf = (target: Target) => objectKey(target.type === 'cluster' ? '' : target.namespace, target.name)

/** Reads the target, of which a connected cluster may have no object. */
export async function openTarget(
  server: TokenServer,
  call: TargetCall,
  target: Target,
  form: TokenForm,
): Promise<OpenTarget> {
  const stored = await server.storage.get(kindOf(target).table, keyOf(target))
  return open(server, call, { target, stored, form })
}

/**
 * Reads the targets, of which there may be several for a kube config: one call. `scope` is that of the trust, whose clusters NAMED_CLUSTERS
 * stands for.
 */
export async function openTargets(
  server: TokenServer,
  call: TargetCall,
  targets: Targets,
  { form, scope }: { form: TokenForm; scope: Scope | undefined },
): Promise<OpenTarget[]> {
  if (targets !== NAMED_CLUSTERS && targets.length === 1)
    return Promise.all(targets.map((target) => openTarget(server, call, target, form)))
  const isNamed = targets === NAMED_CLUSTERS
  const wanted = isNamed ? clustersIn(scope) : targets
  const read = await server.storage.getMany(wanted.map((one) => ({ table: kindOf(one).table, key: keyOf(one) })))
  const found = wanted.map((target, index) => ({ target, stored: read[index] }))
  const opened = isNamed ? found.filter(({ stored }) => stored !== undefined) : found
  if (opened.length === 0) throw refused(NOTHING_NAMED)
  if (opened.length > MOST_TARGETS)
    throw refused(
      `the scope of this client_id names ${opened.length} clusters, and one exchange is for at most ${MOST_TARGETS}: name them`,
    )
  const names = opened.map(({ target }) => nameOf(target))
  const noteAll = gathering(call.note, names)
  return opened.map(({ target, stored }) => {
    if (opened.length === 1) return open(server, call, { target, stored, form })
    return open(server, { ...call, note: noteAll(nameOf(target)) }, { target, stored, form, isOneOfSeveral: true })
  })
}

const NOTHING_NAMED =
  'audience clusters/* needs a client_id whose scope names clusters, without *, for which there are Cluster objects: name the clusters'

/** Returns the clusters that a scope names. Throws invalid_target if it means all. */
function clustersIn(scope: Scope | undefined): Target[] {
  const { clusters = [], rules = [] } = scope ?? {}
  const ruled = rules.flatMap(({ cluster = '', requestTargets = [], virtualClusters = [] }) => {
    const isOfCluster = requestTargets.length === 0 || requestTargets.includes('Cluster')
    return isOfCluster && virtualClusters.length === 0 && cluster !== '' ? [cluster] : []
  })
  const names = [...new Set([...clusters.map(({ cluster = '' }) => cluster), ...ruled])]
  if (names.length === 0 || names.includes('*')) throw refused(NOTHING_NAMED)
  const targets = names.map((name) => parsePlace(`clusters/${name}`)).filter((place) => place?.type === 'cluster')
  return targets.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * Returns the notes of each of several targets: what they say about one fact becomes a list, in the order of the targets.
 */
function gathering(note: TargetCall['note'], names: readonly string[]) {
  const facts = new Map<string, Map<string, readonly string[]>>()
  return (name: string): TargetCall['note'] =>
    (more) => {
      for (const [fact, value] of Object.entries(more)) {
        if (value === undefined) continue
        const given = facts.get(fact) ?? new Map<string, readonly string[]>()
        facts.set(fact, given.set(name, Array.isArray(value) ? value : [String(value)]))
        note({ [fact]: [...new Set(names.flatMap((one) => given.get(one) ?? []))] })
      }
    }
}

interface Opened {
  target: Target
  stored: Stored | undefined
  form: TokenForm
  /** The refusal does not tell which of them it is about. */
  isOneOfSeveral?: boolean
}

/** One that does not exist is refused where one is that may not be used, so that nobody finds out with an ID token that was exchanged before. */
function open(
  server: TokenServer,
  call: TargetCall,
  { target, stored, form, isOneOfSeveral = false }: Opened,
): OpenTarget {
  const name = nameOf(target)
  const isWhole = form === 'kubeConfig'
  const isCluster = target.type === 'cluster'
  const namespace = isCluster ? '' : target.namespace
  // One text for what does not exist and what may not be used, so that nobody learns which clusters there are.
  const unusable = () =>
    refused(
      `this client_id may not have a token for ${isOneOfSeveral ? 'one of these targets' : name}, or it does not exist: see spec.scope of the FederatedIdentityCredential, and spec.access of the cluster`,
    )
  // Whoever may use all of them may know which one fails.
  const explain = <T>(act: () => Promise<T>) => explained(act, isOneOfSeveral ? `${name}: ` : '')
  const kind = kindOf(target)
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
    async check(user) {
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
      if (!(isMissing || lacks.length > 0 || !isReached || !isUsable)) return
      if (isOneOfSeveral) call.note({ refusedTargets: name })
      throw unusable()
    },
    prepare: (user, seconds) =>
      explain(async () => {
        if (!stored || !(isWhole || accounts))
          return tokenSigner(server, call, prepareToken(server, call, place, user, seconds))
        const issue = await parentSigner(server, call, { stored, place, accounts, user, seconds, isWhole })
        return () => explain<IssuedToken | IssuedEntry>(issue)
      }),
  }
}

/**
 * Reports whether every cluster that accepts tokens of this service asks it about their scopes. Those that read nothing but issuer,
 * audience, user and groups do not, and accept no other signature than RS256.
 */
const isEnforced = async ({ tokens: { signer } }: Pick<TokenServer, 'tokens'>): Promise<boolean> =>
  (await signatureWarnings(signer)).length === 0

/** Passes on the refusals of the kinds as invalid_target. The caller may use the target, so they may say why. */
async function explained<T>(act: () => Promise<T>, prefix: string): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof StatusError && error.status.code === 401) throw endedBefore()
    if (error instanceof StatusError && error.status.code === 429)
      throw unavailable('cluster', prefix + error.status.message, {
        ...defined({ retryAfter: error.status.details?.retryAfterSeconds }),
        cause: error,
      })
    if (error instanceof StatusError && error.status.code < 500) throw refused(prefix + error.status.message)
    if (error instanceof ClusterError) throw unavailable('cluster', prefix + error.status.message, { cause: error })
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
    return { token: (await issueToken(prepared, signer)).token, warnings }
  }
}

/** The least life that a request for a kube config may name. The end of the key shortens it. */
const LEAST_SECONDS = 60

/** Writes what was issued: one token, or a kube config with all. It ends with the first of them. */
export async function write([first, ...others]: readonly (IssuedToken | IssuedEntry)[]): Promise<Written> {
  if (first === undefined) throw new Error('an exchange without a token')
  const all = [first, ...others]
  const ends = all.flatMap(({ expires }) => (expires ? [expires.getTime()] : []))
  const shared = {
    warnings: [...new Set(all.flatMap(({ warnings }) => warnings))],
    ...(ends.length > 0 && { expires: new Date(Math.min(...ends)) }),
  }
  if ('token' in first) return { text: first.token, ...shared }
  const { kubeConfigText } = await import('../../clusters/configtext.ts')
  const entries = others.flatMap((one) => ('parts' in one ? [one.parts] : []))
  return { text: await kubeConfigText(first.parts, ...entries), ...shared }
}

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
  return () => (isWhole ? wholeOf(server, parent, user, note) : tokenOf(parent, note))
}

async function wholeOf(
  server: TokenServer,
  parent: Parent,
  user: UserInfo,
  note: TargetCall['note'],
): Promise<IssuedEntry> {
  const { createEntry } = await import('../../clusters/kubeconfig.ts')
  const made = await createEntry(parent, { user, issuer: server.issuer, dryRun: false })
  if ('errors' in made) throw refused(textOf(made.errors))
  const { parts, warnings, facts, expirationTimestamp } = made
  if (parts === undefined || expirationTimestamp === undefined) throw new Error('a kube config that was not signed')
  note({ ...facts })
  return { parts, warnings, expires: new Date(expirationTimestamp) }
}

async function tokenOf(parent: Parent, note: TargetCall['note']): Promise<IssuedToken> {
  const made = await parent.issue({ dryRun: false })
  if (made.user === undefined || !('token' in made.user)) throw new Error('a cluster token that was not made')
  const { user, warnings, facts, expires } = made
  note({ ...facts })
  return { token: user.token, warnings, ...(expires && { expires }) }
}
