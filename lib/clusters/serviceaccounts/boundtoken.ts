/**
 * Asks a cluster for tokens of service accounts that are bound to a Secret, and removes the Secret. The API server refuses the tokens
 * when the Secret is gone, and one of the same name is another Secret to it. Source: Kubernetes, authentication.k8s.io/v1 TokenRequest.
 */
import { parseJson } from '../../engine/meta/encoding/json.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { isObject } from '../../engine/meta/value/walk.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { clusterError, isFailure, isMissing } from '../cluster/failure.ts'
import { memberOf } from '../cluster/members.ts'

/** Where the Secret is, and for whom. */
export interface BoundSecret {
  namespace: string
  account: string
  /** The name of the Secret. */
  secret: string
}

/** What is asked with, and the signal that ends it. */
export interface Asking {
  client: ClusterClient
  signal: AbortSignal
}

export interface BoundToken {
  token: string
  /** The uid that the cluster gave the Secret. */
  secretUid: string
  /** By the clock of the cluster. */
  expires: Date
}

const secretsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`

/** Creates the Secret, or finds that it is there. It is empty: only its existence counts. Says what the cluster lacks. */
export async function createSecret(
  { namespace, secret }: BoundSecret,
  { labels, annotations }: Record<'labels' | 'annotations', Readonly<Record<string, string>>>,
  { client, signal }: Asking,
): Promise<void> {
  const metadata = { name: secret, namespace, labels, annotations }
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', immutable: true }
  try {
    const made = await client.send({ method: 'POST', path: secretsIn(namespace), body, signal })
    if (made.kind !== 'Secret' || memberOf(made.metadata, 'name') !== secret)
      throw clusterError('garbage', client.name, 'the Secret is not the one that was created')
  } catch (error) {
    if (!isFailure(error, 'conflict')) throw explained(error, 'secrets', namespace, client)
  }
}

const ADVICE = 'keyplane clusters connect writes what the cluster needs'

/** Adds to the error where the administrator of the cluster has to act. */
function explained(error: unknown, resource: string, namespace: string, { name }: ClusterClient): unknown {
  if (isMissing(error, 'namespaces'))
    return clusterError(
      'not-found',
      name,
      `namespace "${namespace}" does not exist there; ${ADVICE}`,
      error,
      'namespaces',
    )
  if (!isFailure(error, 'forbidden')) return error
  const who = 'by the RBAC of the cluster or by its admission'
  const detail = `create of ${resource} in namespace "${namespace}" is refused ${who}; ${ADVICE}`
  return clusterError('forbidden', name, detail, error)
}

/**
 * Returns a token of the account that is bound to the Secret, valid for at most `seconds`. Rejects with `not-found` if the account or
 * the Secret does not exist, and with `garbage` for a token that would not end with the Secret.
 */
export async function requestToken(
  { namespace, account, secret }: BoundSecret,
  seconds: number,
  { client, signal }: Asking,
): Promise<BoundToken> {
  const request = {
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: seconds, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: secret } },
    },
    signal,
  } as const
  const answer = await client.send(request).catch((error) => {
    throw explained(error, 'serviceaccounts/token', namespace, client)
  })
  const token = memberOf(answer.status, 'token')
  const bound = typeof token === 'string' ? boundTokenOf(token) : undefined
  const problem = bound ? problemOf(bound, { namespace, account, secret }, seconds) : 'it is no token of an API server'
  if (typeof token !== 'string' || bound === undefined || problem !== undefined)
    throw clusterError('garbage', client.name, `the token of service account ${account} is unusable: ${problem}`)
  return { token, secretUid: bound.secretUid, expires: new Date(bound.expires * 1000) }
}

/**
 * Removes the Secret. Rejects unless the cluster says that it has removed it or does not have it: the answer of anything else that is at
 * this address says nothing about the tokens.
 */
export async function removeSecret(
  { namespace, secret }: Pick<BoundSecret, 'namespace' | 'secret'>,
  { client, signal }: Asking,
): Promise<'removed' | 'missing'> {
  try {
    const path = `${secretsIn(namespace)}/${secret}`
    const answer = await client.send({ method: 'DELETE', path, signal })
    const isDone = answer.kind === 'Status' && answer.status === 'Success'
    if (isDone && memberOf(answer.details, 'name') === secret) return 'removed'
  } catch (error) {
    if (isMissing(error, 'secrets')) return 'missing'
    throw error
  }
  throw clusterError('garbage', client.name, `Secret ${secret} was not removed: it has finalizers`)
}

const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/
/** The claims of a token that is bound to an object. */
const KUBERNETES = 'kubernetes.io'
/** The last second that a Date can show in four digits: 9999-12-31T23:59:59Z. */
const END_OF_TIME = 253_402_300_799

const isTime = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= END_OF_TIME

/** What an API server says in a token of a service account. Empty texts where it says nothing. */
interface ClaimedToken extends BoundSecret {
  secretUid: string
  /** Unix seconds. */
  issued: number
  expires: number
}

/**
 * Returns what a token of a service account says, without verifying it, or undefined for any other text. Source: Kubernetes,
 * pkg/serviceaccount/claims.go.
 */
export function boundTokenOf(token: string): ClaimedToken | undefined {
  const claims = claimsOf(token)
  const bound = claims?.[KUBERNETES]
  if (!claims || !isObject(bound)) return undefined
  const { exp, iat } = claims
  if (!isTime(exp) || !isTime(iat)) return undefined
  const text = (part: unknown, member: string) => {
    const value = memberOf(part, member)
    return typeof value === 'string' ? value : ''
  }
  const { serviceaccount, secret } = bound as JsonObject
  return {
    namespace: text(bound, 'namespace'),
    account: text(serviceaccount, 'name'),
    secret: text(secret, 'name'),
    secretUid: text(secret, 'uid'),
    issued: iat,
    expires: exp,
  }
}

function claimsOf(token: string): JsonObject | undefined {
  const [, payload] = JWT.exec(token) ?? []
  if (payload === undefined) return undefined
  try {
    const { value } = parseJson(Buffer.from(payload, 'base64url').toString('utf8'))
    return isObject(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns why the token may not be handed out, or undefined. An admission webhook may change a TokenRequest, and a token that is not
 * bound would live until it expires. The times of both claims are those of the cluster, so clocks need not agree.
 */
function problemOf(
  claimed: ClaimedToken,
  { namespace, account, secret }: BoundSecret,
  seconds: number,
): string | undefined {
  if (claimed.namespace !== namespace || claimed.account !== account) return 'it is for another account'
  if (claimed.secret !== secret || claimed.secretUid === '') return 'it is not bound to the Secret'
  const life = claimed.expires - claimed.issued
  if (life <= 0) return 'it is never valid'
  return life > seconds ? 'it is valid for longer than requested' : undefined
}
