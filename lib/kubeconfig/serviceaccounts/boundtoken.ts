/**
 * Asks a cluster for tokens of service accounts that are bound to a Secret, and removes the Secret. The API server refuses the tokens
 * when the Secret is gone, and one of the same name is another Secret to it. Source: Kubernetes, authentication.k8s.io/v1 TokenRequest.
 */
import { parseJson } from '../../meta/encoding/json.ts'
import type { JsonObject } from '../../meta/types.ts'
import { isObject } from '../../meta/value/walk.ts'
import type { ClusterClient } from '../cluster/client.ts'
import { clusterError, isFailure } from '../cluster/failure.ts'
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
  /** By the clock of the cluster. */
  expires: Date
}

const secretsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/secrets`

/** Creates the Secret, or finds that it is there. It is empty: only its existence counts. */
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
    if (!isFailure(error, 'conflict')) throw error
  }
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
  const answer = await client.send({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: seconds, boundObjectRef: { apiVersion: 'v1', kind: 'Secret', name: secret } },
    },
    signal,
  })
  const token = memberOf(answer.status, 'token')
  const claims = typeof token === 'string' && JWT.test(token) ? claimsOf(token) : undefined
  const problem = claims ? problemOf(claims, { namespace, account, secret }, seconds) : 'it is no JWT'
  if (typeof token !== 'string' || claims === undefined || problem !== undefined)
    throw clusterError('garbage', client.name, `the token of service account ${account} is unusable: ${problem}`)
  return { token, expires: new Date(Number(claims.exp) * 1000) }
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
    if (isFailure(error, 'not-found') && error.missing === 'secrets') return 'missing'
    throw error
  }
  throw clusterError('garbage', client.name, `Secret ${secret} was not removed: it has finalizers`)
}

const JWT = /^[\w-]+\.([\w-]+)\.[\w-]+$/
/** The claims of a token that is bound to an object. */
const KUBERNETES = 'kubernetes.io'

function claimsOf(token: string): JsonObject | undefined {
  const [, payload = ''] = JWT.exec(token) ?? []
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
  { exp, iat, [KUBERNETES]: bound }: JsonObject,
  { namespace, account, secret }: BoundSecret,
  seconds: number,
): string | undefined {
  const name = (part: string) => memberOf(memberOf(bound, part), 'name')
  if (memberOf(bound, 'namespace') !== namespace || name('serviceaccount') !== account)
    return 'it is for another account'
  const uid = memberOf(memberOf(bound, 'secret'), 'uid')
  if (name('secret') !== secret || typeof uid !== 'string' || uid === '') return 'it is not bound to the Secret'
  if (!Number.isSafeInteger(exp) || !Number.isSafeInteger(iat)) return 'it does not say how long it is valid'
  return Number(exp) - Number(iat) > seconds ? 'it is valid for longer than requested' : undefined
}
