/**
 * Issues tokens of service accounts for users, and removes the Secrets to which they are bound. The record of a Secret is written before
 * the Secret, and a token is handed out only if its key gives access after that: so every end of a key finds the Secrets of all its tokens.
 */
import { type Bound, gatesOf } from '../authentication/boundsecrets.ts'
import { restrictsInside } from '../authorization/restriction.ts'
import { projectOf, type ScopeOptions } from '../authorization/scopes/project.ts'
import { identityOf, runOfUser } from '../authorization/users/identity.ts'
import { endOfAccess } from '../authorization/users/outliving.ts'
import type { UserInfo } from '../authorization/users/user.ts'
import { rfc3339OfUnix, unixSeconds } from '../meta/encoding/time.ts'
import { checkDeadline, type Deadline } from '../meta/errors/deadline.ts'
import { keyChanged, StatusError } from '../meta/errors/status.ts'
import { defined } from '../meta/value/defined.ts'
import type { Credentials } from './cluster/credentials.ts'
import { clusterError, isFailure } from './cluster/failure.ts'
import { type SecretServices, type StoredCredentials, storedCredentials } from './clustersecret.ts'
import type { Eks } from './eks/ekscredentials.ts'
import { parseEksReference } from './eks/reference.ts'
import { ingressUrl } from './instance.ts'
import { accountName } from './serviceaccounts/accountname.ts'
import {
  type Asking,
  type BoundSecret,
  type BoundToken,
  createSecret,
  removeSecret,
  requestToken,
} from './serviceaccounts/boundtoken.ts'
import { type AccountTarget, clusterIn, SHORTEST_TOKEN_SECONDS } from './serviceaccounts/target.ts'
import { EXTRA } from './token/extras.ts'
import type { VirtualClusterServices } from './virtualcluster.ts'

export interface AccountServices
  extends Pick<VirtualClusterServices, 'connect' | 'deadline'>,
    Pick<SecretServices, 'secrets'> {
  /** Returns `keyplane/STAGE/clusters/` or `keyplane/STAGE/virtualclusters/`, the only prefix that IAM allows for the kind of a place. */
  secretPrefix(place: string): string
  eks: Eks
}

/** Where a record is: of which key, in which place, and which of several. */
export interface RecordKey {
  uid: string
  place: string
  slot: string
}

/** The records of Secrets. */
export interface BoundRecords {
  /** Writes a record unless there is one. Returns whether it did. */
  create(key: RecordKey, bound: Bound): Promise<boolean>
  /**
   * Judges the key of the request as the authorizer did, and reads a record: one consistent call. `problem` is set if the key gives no
   * access any more, or is another one than when the request was allowed.
   */
  judge(user: UserInfo, key: RecordKey): Promise<{ problem: boolean; bound: Bound | undefined }>
  /** Gives a record up that this request has written: its Secret is gone, or is removed from now on. */
  giveUp(key: RecordKey, how: 'gone' | 'removed' | 'unknown'): Promise<void>
}

export interface IssueServices extends AccountServices, ScopeOptions {
  records: BoundRecords
  uuid(): string
}

/** A request for a token. */
export interface AccountRequest {
  target: AccountTarget
  user: UserInfo
  /** The requested seconds, within the limits of the deployment. */
  seconds: number
  now: Date
  deadline: Deadline
}

export interface AccountToken extends BoundToken {
  /** The account, and the Secret to which the token is bound. */
  account: string
  secret: string
  warnings: string[]
}

/** How long clusters have for a token, and the part of a request that is reserved for removing the Secret of one that failed. */
const WAIT_MS = 15_000
const RESERVE_MS = 5000
/** How long a cluster may take to remove a Secret. */
const REMOVAL_MS = 5000
/** By so much the clock of a cluster may be ahead or behind. */
const SKEW_SECONDS = 1800

/** Returns why the user gets no token there (403), or undefined. */
export function forbiddenToken(
  { target: { place }, user, seconds, now }: Omit<AccountRequest, 'deadline'>,
  options: ScopeOptions,
): string | undefined {
  if (restrictsInside(user.chain, place, options)) {
    const entry = JSON.stringify(entryFor(place, options))
    return `the scope of the access key restricts what it may do there, and a service account cannot be scoped: a scope with ${entry} would be allowed`
  }
  const { expires } = endOfAccess(user)
  const most = expires === undefined ? seconds : expires - unixSeconds(now)
  if (most >= SHORTEST_TOKEN_SECONDS) return undefined
  const end = rfc3339OfUnix(expires ?? 0)
  return `the access key used ends at ${end}, and Kubernetes issues no token for less than ${SHORTEST_TOKEN_SECONDS} seconds`
}

/** Returns the scope that allows everything in the place. */
function entryFor(place: AccountTarget['place'], options: ScopeOptions) {
  if (place.type === 'cluster') return { clusters: [{ cluster: place.name }] }
  return { virtualClusters: [{ project: projectOf(place.namespace, options), virtualCluster: place.name }] }
}

/**
 * Returns a token of the account of the user, after at most two requests to the cluster, and one if a Secret of the key is there. Rejects
 * with 401 if the key gives no access any more, and with ClusterErrors (502, 503, 504).
 */
export async function issueAccountToken(
  request: AccountRequest,
  services: IssueServices,
): Promise<AccountToken | { missingAccount: string }> {
  const { target, user, seconds, now, deadline } = request
  const { expires } = endOfAccess(user)
  const at = unixSeconds(now)
  const wanted = Math.min(seconds, (expires ?? Number.POSITIVE_INFINITY) - at)
  const account = accountName(identityOf(user))
  const credentials = await credentialsOf(target, services)
  // Requests for the same time share a Secret for a while, so that most need only a token.
  const period = Math.floor(at / seconds)
  const own: Bound = {
    name: user.key.name,
    uid: user.key.uid,
    account,
    namespace: target.namespace,
    secret: `keyplane-${user.key.uid}-${services.uuid().slice(0, 8)}`,
    secretRef: target.secretRef,
    server: credentials.server,
    since: at,
    // The end of the key does not count: it may move, and the Secret ends with it in any case.
    until: (period + 2) * seconds,
    ...gatesOf(user.federation),
  }
  checkDeadline(deadline)
  const key = { uid: user.key.uid, place: target.key, slot: `${seconds}.${period}` }
  const work: Work = { request, services, credentials, wanted, account }
  if (await services.records.create(key, own)) return make(work, key, own)
  const { problem, bound } = await services.records.judge(user, key)
  if (problem) throw keyChanged()
  if (bound && isUsable(bound, own, at + wanted)) return reuse(work, key, bound)
  // The Secret of this time is ended, or is of another account or cluster.
  const other = { ...key, slot: `${key.slot}.${services.uuid()}` }
  if (!(await services.records.create(other, own))) throw clusterError('failing', target.label)
  return make(work, other, own)
}

interface Work {
  request: AccountRequest
  services: IssueServices
  credentials: Credentials
  /** Seconds. */
  wanted: number
  account: string
}

/** Reports whether a token that is valid until `end` may be bound to the Secret of another request. */
const isUsable = (bound: Bound, own: Bound, end: number): boolean =>
  !bound.gone &&
  bound.ended === undefined &&
  bound.until >= end &&
  (['account', 'namespace', 'secretRef', 'server'] as const).every((member) => bound[member] === own[member])

const credentialsOf = (target: AccountTarget, services: AccountServices, fresh = false) =>
  credentialsAt(
    {
      cluster: target.label,
      prefix: services.secretPrefix(target.key),
      reference: target.secretRef,
      field: target.field,
      ...defined({ fallbackServer: ingressUrl(target) }),
    },
    services,
    fresh,
  )

function credentialsAt(where: StoredCredentials, { secrets, eks }: AccountServices, fresh: boolean) {
  const cluster = parseEksReference(where.reference)
  return cluster ? eks.credentials(where.cluster, cluster, fresh) : storedCredentials(where, secrets, fresh)
}

function askingOf({ request: { target, deadline }, services, credentials }: Work): Asking {
  const client = services.connect(target.label, credentials, { keepsConnections: true })
  return { client, signal: services.deadline(Math.max(0, Math.floor(Math.min(WAIT_MS, deadline() - RESERVE_MS)))) }
}

/** Makes the Secret and a token. Whatever fails, nothing stays that could give access. */
async function make(work: Work, key: RecordKey, bound: Bound): Promise<AccountToken | { missingAccount: string }> {
  const { request, services } = work
  const { records } = services
  let asking = askingOf(work)
  let made = false
  try {
    const secret = describe(work)
    await createSecret(bound, secret, asking).catch(async (error) => {
      if (!isFailure(error, 'unauthorized')) throw error
      const rotated = await credentialsOf(request.target, services, true)
      const isSame = JSON.stringify(rotated) === JSON.stringify(work.credentials)
      if (isSame || rotated.server !== bound.server) throw error
      asking = askingOf({ ...work, credentials: rotated })
      await createSecret(bound, secret, asking)
    })
    made = true
    const token = await tokenFor(work, bound, asking).catch(async (error) => {
      // Somebody has removed the Secret: this service, if the key has ended meanwhile.
      if (isFailure(error, 'not-found') && error.missing === 'secrets') await demandAccess(work, key)
      throw error
    })
    // What has ended the key before this found no record, or has ended it.
    await demandAccess(work, key)
    return token
  } catch (error) {
    const how = made || mayExist(error) ? await tryRemoval(bound, asking, services) : 'gone'
    await records.giveUp(key, how)
    if (isFailure(error, 'not-found') && error.missing === 'serviceaccounts') return { missingAccount: bound.account }
    throw explained(error, bound, request.target, made)
  }
}

/** Throws 401 unless the key gives access as when the request was allowed, and nothing has ended the record. */
async function demandAccess({ request: { user }, services: { records } }: Work, key: RecordKey): Promise<void> {
  const { problem, bound } = await records.judge(user, key)
  if (problem || !bound || bound.gone || bound.ended !== undefined) throw keyChanged()
}

/** Makes a token for a Secret that another request has made, or is making. What ends the key finds the record of that one. */
async function reuse(work: Work, key: RecordKey, bound: Bound): Promise<AccountToken | { missingAccount: string }> {
  try {
    return await tokenFor(work, bound, askingOf(work))
  } catch (error) {
    if (!isFailure(error, 'not-found') && !isFailure(error, 'unauthorized'))
      throw explained(error, bound, work.request.target, true)
    if (error.missing === 'serviceaccounts') return { missingAccount: bound.account }
    return make(work, key, bound)
  }
}

async function tokenFor({ wanted, request: { now } }: Work, bound: Bound, asking: Asking): Promise<AccountToken> {
  const made = await requestToken(bound, wanted, asking)
  const seconds = Math.floor((made.expires.getTime() - now.getTime()) / 1000)
  // Later than this, the record might be forgotten before the token expires.
  if (seconds > wanted + SKEW_SECONDS) throw clusterError('garbage', asking.client.name, 'its clock is wrong')
  const shortened =
    seconds < wanted - SHORT_SECONDS
      ? [`requested expiration of ${wanted} seconds shortened to ${seconds} seconds by the cluster`]
      : []
  return { ...made, account: bound.account, secret: bound.secret, warnings: [...shortened, unscoped(bound)] }
}

/** Differences that clocks and the time of a request explain. */
const SHORT_SECONDS = 60

const unscoped = ({ namespace, account }: BoundSecret): string =>
  `inside the cluster only its RBAC limits the token: scopes of the access key are not enforced for service account ${namespace}/${account}`

const describe = ({ request: { user } }: Work) => ({
  labels: { 'app.kubernetes.io/managed-by': 'keyplane', [EXTRA.keyUid]: user.key.uid },
  annotations: { [EXTRA.key]: user.key.name, [EXTRA.run]: runOfUser(user) },
})

/** After these failures, the Secret may or may not exist. */
const UNCERTAIN = ['timeout', 'reset', 'failing', 'garbage', 'too-large', 'redirect'] as const

const mayExist = (error: unknown): boolean =>
  !(error instanceof StatusError) || isFailure(error, ...UNCERTAIN) || error.status.code === 504

async function tryRemoval(
  bound: Bound,
  { client }: Asking,
  { deadline }: IssueServices,
): Promise<'removed' | 'unknown'> {
  return removeSecret(bound, { client, signal: deadline(REMOVAL_MS) }).then(
    () => 'removed',
    () => 'unknown',
  )
}

/** Says what the cluster lacks, where its administrator has to act. */
function explained(error: unknown, { namespace }: Bound, { label }: AccountTarget, made: boolean): unknown {
  const advice = 'npm run cluster-config -- --service-accounts prints what the cluster needs'
  if (isFailure(error, 'not-found') && error.missing === 'namespaces')
    return clusterError('not-found', label, `namespace "${namespace}" does not exist there; ${advice}`, error)
  if (isFailure(error, 'forbidden')) {
    const what = made ? 'serviceaccounts/token' : 'secrets'
    const who = 'by the RBAC of the cluster or by its admission'
    return clusterError(
      'forbidden',
      label,
      `create of ${what} in namespace "${namespace}" is refused ${who}; ${advice}`,
      error,
    )
  }
  return error
}

/**
 * Removes a Secret. Rejects with a ClusterError unless its cluster confirms that. The address in the credentials may be another one by
 * now: that the Secret is not there means nothing then.
 */
export async function removeBoundSecret(bound: Bound, place: string, services: AccountServices): Promise<void> {
  const label = clusterIn(place)
  const { secretRef: reference, server: fallbackServer } = bound
  const prefix = services.secretPrefix(place)
  const attempt = async (fresh: boolean): Promise<void> => {
    const where = { cluster: label, prefix, reference, field: 'the credentials', fallbackServer }
    const credentials = await credentialsAt(where, services, fresh)
    const client = services.connect(label, credentials, { keepsConnections: true })
    const outcome = await removeSecret(bound, { client, signal: services.deadline(REMOVAL_MS) })
    if (outcome === 'missing' && credentials.server !== bound.server)
      throw clusterError('credentials', label, 'their address has changed, and the cluster there has no such Secret')
  }
  await attempt(false).catch((error) => {
    if (!isFailure(error, 'unauthorized', 'credentials')) throw error
    return attempt(true)
  })
}
