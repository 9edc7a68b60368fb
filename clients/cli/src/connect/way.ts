/**
 * Goes the way from a key into a connected cluster, step by step: the token, the address, what the cluster takes its user for, and its
 * clock. Each step throws a CliError that says what to do.
 */
import type { Agent } from 'node:https'
import { messageOf, objectIn } from '../../../core/src/answers.ts'
import { type HttpsAnswer, sendHttps } from '../../../core/src/https.ts'
import { networkFailure } from '../../../core/src/networkfailure.ts'
import type { Cluster } from '../../../core/src/objects.ts'
import { usableCluster } from '../api/clusters.ts'
import { issueCredential } from '../api/issue.ts'
import { lockedWords } from '../api/reviewers.ts'
import type { Session } from '../api/session.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { registered } from '../kubeconfig/clusterentries.ts'

export type Step = 'object' | 'token' | 'address' | 'user' | 'clock'

/** Goes the way, and tells each step that was taken with what it has found. */
export async function goInto(
  io: Io,
  session: Session,
  name: string,
  told: <T>(step: Step, work: () => Promise<[T, string]>) => Promise<T>,
): Promise<void> {
  const cluster = await told('object', async () => {
    const found = await usableCluster(session, name)
    return [found, `${name} is at ${found.spec?.server}, and you may use it`]
  })
  const token = await told('token', () => tokenFor(session, cluster))
  const answer = await told('address', () => ask(io, cluster, token))
  await told('user', async () => {
    try {
      return [undefined, `the cluster knows you as ${userIn(answer, cluster)}`]
    } catch (error) {
      throw await withKey(error, session, cluster)
    }
  })
  await told('clock', async () => [undefined, `that of the cluster is ${secondsApart(answer, io)} s from this one`])
}

const byAccounts = ({ spec }: Cluster): boolean => spec?.tokens === 'ServiceAccounts'

/** The shortest life that service accounts give. */
const SECONDS = 600

async function tokenFor(session: Session, cluster: Cluster): Promise<[string, string]> {
  const target = { kind: 'cluster', name: cluster.metadata.name } as const
  const asked = issueCredential(session, target, SECONDS, { form: registered(cluster).form })
  const { credential } = await asked.catch((error: unknown) => {
    throw withRemedy(error, cluster)
  })
  const from = byAccounts(cluster) ? 'keyplane got one from the cluster' : 'keyplane signed one'
  return ['token' in credential ? credential.token : '', from]
}

const connect = (name: string) => `keyplane clusters connect ${name}`

/** What to do about each failure of a cluster that keyplane asks for tokens, by what the server says of it. */
const REMEDIES: readonly (readonly [said: RegExp, remedy: (name: string) => string])[] = [
  [
    /has no stored credentials|has unusable credentials/,
    () =>
      'Store those of the service account of keyplane in the secret of the cluster: docs/clusters.md, "Register the cluster".',
  ],
  [
    /does not accept the stored credentials/,
    (name) =>
      `They have ended. An administrator of the cluster makes the service account of keyplane again with the file that this writes: ${connect(name)}\nThen store its new token: docs/clusters.md, "Register the cluster".`,
  ],
  [
    /does not permit this with the stored credentials/,
    (name) =>
      `An administrator of the cluster gives the service account of keyplane its rights again with the file that this writes: ${connect(name)}`,
  ],
  [
    /does not give this deployment the role/,
    () => 'An administrator of the deployment creates the role: docs/first-eks-cluster.md, "Let keyplane in".',
  ],
  [
    /cannot be reached: |did not answer in time/,
    () => 'keyplane itself must reach the address in the stored credentials, with the certificate authority there.',
  ],
]

/** Returns the error of a cluster that gives no token, with what to do in place of another try. */
function withRemedy(error: unknown, cluster: Cluster): unknown {
  if (!(error instanceof CliError) || !byAccounts(cluster)) return error
  const remedy = REMEDIES.find(([said]) => said.test(error.message))?.[1](cluster.metadata.name)
  if (remedy === undefined) return error
  return new CliError(error.message, { exitCode: error.exitCode, hint: remedy, cause: error })
}

const TIMEOUT_MILLISECONDS = 20_000
const REVIEWS = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
const REVIEW = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })

async function ask(io: Io, cluster: Cluster, token: string): Promise<[HttpsAnswer, string]> {
  const { server = '', certificateAuthorityData: data, proxyURL = '', tlsServerName: serverName } = cluster.spec ?? {}
  const agent = proxyURL === '' ? undefined : agentOf(proxyURL)
  const url = new URL(server.replace(/\/+$/, '') + REVIEWS)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json' }
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MILLISECONDS)])
  const authorities = data ? Buffer.from(data, 'base64').toString() : undefined
  const request = { url, method: 'POST', headers, body: REVIEW, authorities, signal, mostMebibytes: 1, serverName }
  const sent = sendHttps({ ...request, ...(agent && { agent: await agent }) }).finally(async () =>
    (await agent)?.destroy(),
  )
  const answer = await sent.catch((error: unknown) => {
    throw new CliError(networkFailure(error, url.host, io.env).text, {
      hint: `Clients use spec.server, spec.certificateAuthorityData, spec.proxyURL and spec.tlsServerName of the Cluster ${cluster.metadata.name}. Correct them, or the network between this machine and the cluster.`,
      cause: error,
    })
  })
  const through = proxyURL === '' ? '' : ` through ${proxyURL}`
  return [answer, `${url.origin} answers${through}, with a certificate of the authority of the object`]
}

/** Returns what sends requests through a proxy. Throws a CliError for one that kubectl can use, and Node.js cannot. */
async function agentOf(proxyURL: string): Promise<Agent> {
  const { protocol } = new URL(proxyURL)
  if (protocol === 'socks5:')
    throw new CliError(`The proxy ${proxyURL} is one of SOCKS, which Node.js does not speak.`, {
      hint: 'kubectl does. Go the rest of the way with it: keyplane kubeconfig --cluster NAME --merge, then kubectl auth whoami',
    })
  const https = await import('node:https')
  return new https.Agent({ proxyEnv: { HTTPS_PROXY: proxyURL } })
}

/** Returns the user in the answer. Throws a CliError that says why the cluster did not accept the token. */
function userIn({ code, text }: HttpsAnswer, cluster: Cluster): string {
  const answer = objectIn(text) ?? {}
  const { userInfo } = (answer.status ?? {}) as { userInfo?: { username?: string } }
  if (code === 201 && userInfo?.username) return userInfo.username
  const said = messageOf(answer) ?? ''
  throw new CliError(`The cluster answered ${code}. ${said}`.trimEnd(), {
    hint: remedyFor(code, cluster, said),
  })
}

/** Names the key with which the cluster asks, if that is what is wrong. */
async function withKey(error: unknown, session: Session, cluster: Cluster): Promise<unknown> {
  const words = byAccounts(cluster) ? undefined : await lockedWords(session, cluster.metadata.name)
  if (!(error instanceof CliError) || words === undefined) return error
  const hint = `It seems that ${words}. To see what is missing: ${connect(cluster.metadata.name)}`
  return new CliError(error.message, { exitCode: error.exitCode, hint, cause: error })
}

/** How keyplane words that the key of a cluster may not review. A cluster passes it on. */
const NO_REVIEW = /may not (create reviews|review requests)/

/** Returns what to do about an answer of this code, in which the cluster has said this. */
function remedyFor(code: number, cluster: Cluster, said: string): string {
  if (code === 401 && byAccounts(cluster))
    return 'The token is of another cluster: spec.server is not the one in spec.credentials.'
  if (code === 401)
    return `Its API server does not accept tokens of keyplane. Compare its files with those of: ${connect(cluster.metadata.name)}\nOne that has just started fetches the public keys within seconds.`
  if (code === 403 && byAccounts(cluster))
    return 'Its RBAC does not let your account ask who it is: the ClusterRoleBinding system:basic-user allows that to all.'
  if (code === 403 && NO_REVIEW.test(said))
    return 'The key with which it asks keyplane must have the right to review: docs/clusters.md, "The right to review".'
  if (code === 403)
    return 'Its RBAC or another authorizer refuses you. The ClusterRoleBinding system:basic-user lets everybody ask who they are. If it asks keyplane, the key with which it asks must have the right to review.'
  if (code >= 500) return 'It could not ask keyplane, or fails itself. Look into the log of its API server.'
  return 'spec.server does not seem to be the address of a Kubernetes API.'
}

/** As much as other clients bear. */
const MOST_SECONDS = 30

function secondsApart({ headers }: HttpsAnswer, io: Io): number {
  const there = Date.parse(headers.date?.[0] ?? '')
  const apart = Number.isNaN(there) ? 0 : Math.round(Math.abs(there - io.now().getTime()) / 1000)
  if (apart <= MOST_SECONDS) return apart
  throw new CliError(`The clock of the cluster is ${apart} s from the one of this machine.`, {
    hint: 'Set the wrong one: tokens are refused before they begin, and after they end, by the clock of the cluster.',
  })
}
