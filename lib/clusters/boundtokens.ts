/**
 * Issues tokens of service accounts for users, and removes the Secrets to which they are bound. The record of a Secret is written before
 * the Secret, and a token is handed out only if its key gives access after that: so every end of a key finds the Secrets of all its tokens.
 */

import { projectOf, type ScopeOptions } from '../access/scopes/project.ts'
import { identityOf, runOfUser } from '../access/users/identity.ts'
import { endOfAccess } from '../access/users/outliving.ts'
import type { UserInfo } from '../access/users/user.ts'
import { rfc3339OfUnix, unixSeconds } from '../engine/meta/encoding/time.ts'
import { checkDeadline, type Deadline } from '../engine/meta/errors/deadline.ts'
import { credentialChanged, tooManyRequests } from '../engine/meta/errors/status.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../engine/meta/value/durations.ts'
import { type Bound, gatesOf, type Recorded, type RecordKey } from '../keys/credential/boundsecrets.ts'
import type { Credentials } from './cluster/credentials.ts'
import { clusterError, isFailure, isMissing } from './cluster/failure.ts'
import { fromBase64, parseCertificates, toPem } from './cluster/pem.ts'
import { type SecretServices, type StoredCredentials, storedCredentials } from './clustersecret.ts'
import type { Eks } from './eks/ekscredentials.ts'
import { parseEksReference } from './eks/reference.ts'
import { ingressUrl } from './instance.ts'
import { accountFor, isViewer } from './serviceaccounts/accountname.ts'
import {
  type Asking,
  type BoundSecret,
  type BoundToken,
  createSecret,
  removeSecret,
  requestToken,
} from './serviceaccounts/boundtoken.ts'
import { type AccountTarget, clusterIn, SHORTEST_TOKEN_SECONDS } from './serviceaccounts/target.ts'
import { EXTRA } from './token/contract.ts'
import type { VirtualClusterServices } from './virtualcluster.ts'

export interface AccountServices
  extends Pick<VirtualClusterServices, 'connect' | 'deadline'>,
    Pick<SecretServices, 'secrets'> {
  /** Returns `keyplane/STAGE/clusters/` or `keyplane/STAGE/virtualclusters/`, the only prefix that IAM allows for the kind of a place. */
  secretPrefix(place: string): string
  eks: Eks
}

/** The records of Secrets. */
export interface BoundRecords {
  /** Writes a new record if there is none, or only `instead`, which is gone. Returns undefined if there is another one. */
  create(key: RecordKey, bound: Bound, instead?: Recorded): Promise<Recorded | undefined>
  /**
   * Judges the key of the request as the authorizer did, and reads a record: one consistent call. `problem` is set if the key gives no
   * access any more, or is another one than when the request was allowed.
   */
  judge(user: UserInfo, key: RecordKey): Promise<{ problem: boolean; found: Recorded | undefined }>
  /** Records the uid of the Secret. Returns false if the record has changed since it was read. */
  identify(recorded: Recorded, secretUid: string): Promise<boolean>
  /** Ends a record that this request has written. `isRemoved` says that the cluster has confirmed that it has no such Secret. */
  end(key: RecordKey, isRemoved: boolean): Promise<void>
  /**
   * Finds the record of the Secret to which a token is bound. The uid of the Secret tells the token from what somebody made up. Returns `gone`
   * if another record has taken its place, and `unknown` if there was none.
   */
  findToken(token: { secret: string; secretUid: string }): Promise<Recorded | 'gone' | 'unknown'>
  /** Ends a record for good, and has its Secret removed at once. Returns false if it was over. */
  revoke(recorded: Recorded): Promise<boolean>
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
/** The part of a request that is left when a cluster was away all the time: an exchange takes its key back and says which one it was. */
const ANSWER_MS = 2000
/** By so much the clock of a cluster may be ahead or behind. */
const SKEW_SECONDS = 1800

/** Returns why the user gets no token there (403), or undefined. */
export function forbiddenToken(
  { target: { place }, user, seconds, now }: Omit<AccountRequest, 'deadline'>,
  options: ScopeOptions,
): string | undefined {
  if (accountFor(identityOf(user), user.chain, place, options) === undefined) {
    const entry = JSON.stringify(entryFor(place, options))
    return `the scope of the access key restricts what it may do there, and a service account cannot be scoped: a scope with ${entry} would be allowed, also beside role view and without rules`
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

/** Requests share a Secret if their tokens are at most so long, in seconds, so that the Secrets of a key in a place are few. */
const LENGTHS = [HOUR_SECONDS, 4 * HOUR_SECONDS, DAY_SECONDS] as const
/** So many Secrets of a key for one length may be there or not be confirmed to be gone. The first of them that lives is used. */
const MOST_SECRETS = 8
/** Seconds until a client may try again when there are more. */
const RETRY_SECONDS = 60

/** Returns the length of tokens among which one of `seconds` shares a Secret: a day is doubled for those that are longer. */
function sharedLength(seconds: number): number {
  const length = LENGTHS.find((one) => one >= seconds)
  return length ?? DAY_SECONDS * 2 ** Math.ceil(Math.log2(seconds / DAY_SECONDS))
}

/**
 * Returns a token of the account of the user, after at most two requests to the cluster, and one if a Secret of the key is there. Rejects
 * with 401 if the key gives no access any more, with 429 if the cluster has not removed earlier Secrets of the key, and with ClusterErrors
 * (502, 503, 504).
 */
export async function issueAccountToken(
  request: AccountRequest,
  services: IssueServices,
): Promise<AccountToken | { missingAccount: string }> {
  const { target, user, seconds, now, deadline } = request
  const { records } = services
  const { expires } = endOfAccess(user)
  const at = unixSeconds(now)
  const wanted = Math.min(seconds, (expires ?? Number.POSITIVE_INFINITY) - at)
  const account = accountFor(identityOf(user), user.chain, target.place, services)
  if (account === undefined) throw new Error('a token for a chain of scopes that no account stands for')
  const credentials = await credentialsOf(target, services)
  const length = sharedLength(seconds)
  const period = Math.floor(at / length)
  const own: Bound = {
    name: user.key.name,
    uid: user.key.uid,
    account,
    namespace: target.namespace,
    secret: secretName(user.key.uid, services.uuid()),
    secretRef: target.secretRef,
    server: credentials.server,
    ...(target.address?.authority && { authority: target.address.authority }),
    since: at,
    // The end of the key does not count: it may move, and the Secret ends with it in any case.
    until: (period + 2) * length,
    ...gatesOf(user.federation),
  }
  checkDeadline(deadline)
  const work: Work = { request, services, credentials, wanted }
  for (let number = 0; number < MOST_SECRETS; number++) {
    const key = { uid: user.key.uid, place: target.key, slot: `${length}.${period}.${number}` }
    const made = await records.create(key, own)
    if (made) return make(work, made)
    const { problem, found } = await records.judge(user, key)
    if (problem) throw credentialChanged()
    if (found && isUsable(found.bound, own)) return reuse(work, found)
    const again = found?.bound.gone && (await records.create(key, following(own, found.bound), found))
    if (again) return make(work, again)
  }
  const why = `cluster "${target.label}" has not confirmed that earlier Secrets of this access key are removed`
  throw tooManyRequests(why, RETRY_SECONDS)
}

interface Work {
  request: AccountRequest
  services: IssueServices
  credentials: Credentials
  /** Seconds. */
  wanted: number
}

/** So many Secrets that were there before are remembered. Their tokens have ended. */
const MOST_FORMER = 32

/** Returns a record that takes the place of one that is gone, and knows the Secrets of those before it. */
function following(own: Bound, { former = [], secretUid }: Bound): Bound {
  const known = [...former, ...(secretUid === undefined ? [] : [secretUid])]
  return known.length === 0 ? own : { ...own, former: known.slice(-MOST_FORMER) }
}

/** Reports whether tokens may be bound to the Secret of another request. */
const isUsable = (bound: Bound, own: Bound): boolean =>
  !bound.gone &&
  bound.ended === undefined &&
  (['account', 'namespace', 'secretRef', 'server', 'authority'] as const).every(
    (member) => bound[member] === own[member],
  )

const SECRET_NAME = /^keyplane-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})-[0-9a-f]{8}$/

const secretName = (uid: string, random: string): string => `keyplane-${uid}-${random.slice(0, 8)}`

/** Returns the uid of the key in the name of a Secret of this service, or undefined for another name. */
export const keyUidIn = (secret: string): string | undefined => SECRET_NAME.exec(secret)?.[1]

const credentialsOf = (target: AccountTarget, services: AccountServices, fresh = false) =>
  credentialsAt(
    {
      cluster: target.label,
      prefix: services.secretPrefix(target.key),
      reference: target.secretRef,
      field: target.field,
      ...defined({
        fallbackServer: target.address?.server ?? ingressUrl(target),
        authority: target.address?.authority,
      }),
    },
    services,
    fresh,
  )

/** `fallbackServer` and `authority` say where a cluster of EKS is. */
async function credentialsAt(
  { authority, ...where }: StoredCredentials & { authority?: string },
  { secrets, eks }: AccountServices,
  fresh: boolean,
): Promise<Credentials> {
  const named = parseEksReference(where.reference)
  if (!named) return storedCredentials(where, secrets, fresh)
  const trusted = parseCertificates(fromBase64(authority ?? '') ?? '')
  if (!trusted || where.fallbackServer === undefined)
    throw clusterError('credentials', where.cluster, 'its object has no address with an authority')
  const address = { server: where.fallbackServer, certificateAuthority: toPem(trusted) }
  return eks.credentials(where.cluster, { name: named.name, ...address }, fresh)
}

/**
 * Makes the Secret and a token for a record of this request. Whatever fails, nothing stays that could give access: the record is ended, and
 * is kept until the cluster confirms that the Secret is gone.
 */
async function make(work: Work, recorded: Recorded): Promise<AccountToken | { missingAccount: string }> {
  const { request, services } = work
  const { key, bound } = recorded
  try {
    return await withCredentials(work, async (asking) => {
      await createSecret(bound, describe(work), asking)
      return confirm(work, recorded, await tokenFor(work, recorded, asking))
    })
  } catch (error) {
    const wait = () => Math.min(REMOVAL_MS, request.deadline() - ANSWER_MS)
    const isRemoved = await removeBoundSecret(bound, request.target.key, services, wait).then(
      () => true,
      () => false,
    )
    await services.records.end(key, isRemoved)
    return missingAccount(error, bound)
  }
}

/**
 * Makes a token for a Secret that another request has made, or is making. What ends the key finds the record of that one, which this
 * request never gives up.
 */
async function reuse(work: Work, recorded: Recorded): Promise<AccountToken | { missingAccount: string }> {
  const { bound } = recorded
  try {
    return await withCredentials(work, async (asking) => {
      const token = await tokenFor(work, recorded, asking).catch(async (error) => {
        if (!isMissing(error, 'secrets')) throw error
        // Somebody has removed the Secret, or it is not made yet.
        await createSecret(bound, describe(work), asking)
        return tokenFor(work, recorded, asking)
      })
      return token.secretUid === bound.secretUid ? token : confirm(work, recorded, token)
    })
  } catch (error) {
    return missingAccount(error, bound)
  }
}

/**
 * Returns the token, if its key gives access as when the request was allowed: what has ended the key before this found no record, or has
 * ended it. Records the uid of the Secret first, by which a token is told from one that somebody made up. Throws 401 otherwise.
 */
async function confirm(work: Work, recorded: Recorded, token: AccountToken): Promise<AccountToken> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = await demandAccess(work, recorded)
    if (found.bound.secretUid === token.secretUid) return token
    if (await work.services.records.identify(found, token.secretUid)) return token
  }
  throw credentialChanged()
}

/** How often a record is read again that others write meanwhile. */
const ATTEMPTS = 5

/** Returns the record as it is now. Throws 401 unless the key gives access as when the request was allowed, and the record lives. */
async function demandAccess({ request, services }: Work, { key, bound }: Recorded): Promise<Recorded> {
  const { problem, found } = await services.records.judge(request.user, key)
  if (problem || !found || found.bound.secret !== bound.secret) throw credentialChanged()
  if (found.bound.gone || found.bound.ended !== undefined) throw credentialChanged()
  return found
}

/** Acts, and once more with the credentials as they are stored now if the cluster does not accept those that are kept in memory. */
async function withCredentials<T>(work: Work, act: (asking: Asking) => Promise<T>): Promise<T> {
  const { request, services, credentials } = work
  const asking = (given: Credentials): Asking => ({
    client: services.connect(request.target.label, given, { keepsConnections: true }),
    signal: services.deadline(Math.max(0, Math.floor(Math.min(WAIT_MS, request.deadline() - RESERVE_MS)))),
  })
  try {
    return await act(asking(credentials))
  } catch (error) {
    if (!isFailure(error, 'unauthorized')) throw error
    const rotated = await credentialsOf(request.target, services, true)
    const isSame = JSON.stringify(rotated) === JSON.stringify(credentials)
    if (isSame || rotated.server !== credentials.server) throw error
    return act(asking(rotated))
  }
}

/** Throws the error for the client, unless it says that there is no account. */
function missingAccount(error: unknown, bound: Bound): { missingAccount: string } {
  if (isMissing(error, 'serviceaccounts')) return { missingAccount: bound.account }
  throw error
}

async function tokenFor(work: Work, recorded: Recorded, asking: Asking): Promise<AccountToken> {
  const { wanted, request } = work
  const { bound } = recorded
  const made = await requestToken(bound, wanted, asking).catch(async (error) => {
    // The Secret is not there: this service has removed it, if the key has ended meanwhile.
    if (isMissing(error, 'secrets')) await demandAccess(work, recorded)
    throw error
  })
  const seconds = Math.floor((made.expires.getTime() - request.now.getTime()) / 1000)
  // Later than the limit, the record might be forgotten before the token expires.
  if (seconds <= 0 || seconds > wanted + SKEW_SECONDS)
    throw clusterError('garbage', asking.client.name, 'its clock is wrong')
  const shortened =
    seconds < wanted - SHORT_SECONDS
      ? [`requested expiration of ${wanted} seconds shortened to ${seconds} seconds by the cluster`]
      : []
  return { ...made, account: bound.account, secret: bound.secret, warnings: [...shortened, unscoped(bound)] }
}

/** Differences that clocks and the time of a request explain. */
const SHORT_SECONDS = 60

const unscoped = ({ namespace, account }: BoundSecret): string =>
  isViewer(account)
    ? `what role view means inside the cluster is what its RBAC gives service account ${namespace}/${account}: scopes of the access key are not enforced for it`
    : `inside the cluster only its RBAC limits the token: scopes of the access key are not enforced for service account ${namespace}/${account}`

const describe = ({ request: { user } }: Work) => ({
  labels: { 'app.kubernetes.io/managed-by': 'keyplane', [EXTRA.keyUid]: user.key.uid },
  annotations: { [EXTRA.key]: user.key.name, [EXTRA.run]: runOfUser(user) },
})

/**
 * Removes a Secret. Rejects with a ClusterError unless its cluster confirms that. The address in stored credentials may be another one by
 * now: that the Secret is not there means nothing then. A cluster of EKS is asked where it was when the Secret was made, whatever its
 * object says by now. The cluster has as many milliseconds as `wait` says.
 */
export async function removeBoundSecret(
  bound: Bound,
  place: string,
  services: AccountServices,
  wait: () => number = () => REMOVAL_MS,
): Promise<void> {
  const label = clusterIn(place)
  const { secretRef: reference, server: fallbackServer, authority } = bound
  const prefix = services.secretPrefix(place)
  const attempt = async (fresh: boolean): Promise<void> => {
    const where = {
      cluster: label,
      prefix,
      reference,
      field: 'the credentials',
      fallbackServer,
      ...defined({ authority }),
    }
    const credentials = await credentialsAt(where, services, fresh)
    const client = services.connect(label, credentials, { keepsConnections: true })
    const outcome = await removeSecret(bound, { client, signal: services.deadline(Math.max(0, Math.floor(wait()))) })
    if (outcome === 'missing' && credentials.server !== bound.server)
      throw clusterError('credentials', label, 'their address has changed, and the cluster there has no such Secret')
  }
  await attempt(false).catch((error) => {
    if (!isFailure(error, 'unauthorized', 'credentials')) throw error
    return attempt(true)
  })
}
