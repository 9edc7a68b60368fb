/** `keyplane clusters check`: goes the way from a key into a connected cluster, and says what is missing on it. */
import type { Agent } from 'node:https'
import { messageOf, objectIn } from '../../../../core/src/answers.ts'
import { type HttpsAnswer, sendHttps } from '../../../../core/src/https.ts'
import { networkFailure } from '../../../../core/src/networkfailure.ts'
import type { Cluster } from '../../../../core/src/objects.ts'
import { usableCluster } from '../../api/clusters.ts'
import { issueCredential } from '../../api/issue.ts'
import { openSession, type Session } from '../../api/session.ts'
import { command } from '../../arguments/command.ts'
import { CliError } from '../../io/errors.ts'
import type { Io } from '../../io/io.ts'
import { registered } from '../../kubeconfig/clusterentries.ts'
import { plainLines } from '../../output/plain.ts'

export const clustersCheck = command({
  name: ['clusters', 'check'],
  summary: 'Test the whole way into a connected cluster, and say what is missing',
  description:
    'The command gets a token for the cluster as kubectl does, and asks the cluster who its user is. It prints a line for each step, and ends at the first one that fails, with what to do about it. Where service accounts issue the tokens, the step "token" includes that keyplane reaches the cluster, its rights there and your account. It changes nothing, except that such a cluster has a Secret for the token until your key ends.',
  positionals: [{ name: 'NAME', help: 'name of the cluster', names: 'clusters' }],
  options: {},
  examples: [{ does: 'Check a cluster', run: 'keyplane clusters check west' }],
  async run({ values: { context }, positionals: [name = ''] }, io) {
    const session = await openSession(io, { context })
    const step = async <T>(title: string, work: () => Promise<[T, string]>): Promise<T> => {
      try {
        const [value, text] = await work()
        io.out(`${plainLines(`ok      ${title.padEnd(9)}${text}`)}\n`)
        return value
      } catch (error) {
        if (error instanceof CliError) io.out(`failed  ${title}\n`)
        throw error
      }
    }
    const cluster = await step('object', async () => {
      const found = await usableCluster(session, name)
      return [found, `${name} is at ${found.spec?.server}, and you may use it`]
    })
    const token = await step('token', () => tokenFor(session, cluster))
    const answer = await step('address', () => ask(io, cluster, token))
    const config = configCall(cluster, token, session)
    await step('user', async () => [undefined, `the cluster knows you as ${userIn(answer, cluster, config)}`])
    await step('clock', async () => [undefined, `that of the cluster is ${secondsApart(answer, io)} s from this one`])
  },
})

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

const MAKE_CONFIG = 'npm run --silent cluster-config -- --service-accounts | kubectl apply -f -'

/** What to do about each failure of a cluster that keyplane asks for tokens, by what the server says of it. */
const REMEDIES: readonly (readonly [said: RegExp, remedy: string])[] = [
  [
    /has no stored credentials|has unusable credentials/,
    'Store those of the service account of keyplane in the secret of the cluster: docs/clusters.md, "Register the cluster".',
  ],
  [
    /does not accept the stored credentials/,
    `They have ended. An administrator of the cluster makes the service account of keyplane again with: ${MAKE_CONFIG}\nThen store its new token: docs/clusters.md, "Register the cluster".`,
  ],
  [
    /does not permit this with the stored credentials/,
    `An administrator of the cluster gives the service account of keyplane its rights again with: ${MAKE_CONFIG}`,
  ],
  [
    /does not give this deployment the role/,
    'An administrator of the deployment creates the role: docs/first-eks-cluster.md, "Let keyplane in".',
  ],
  [
    /cannot be reached: |did not answer in time/,
    'keyplane itself must reach the address in the stored credentials, with the certificate authority there.',
  ],
]

/** Returns the error of a cluster that gives no token, with what to do in place of another try. */
function withRemedy(error: unknown, cluster: Cluster): unknown {
  if (!(error instanceof CliError) || !byAccounts(cluster)) return error
  const remedy = REMEDIES.find(([said]) => said.test(error.message))?.[1]
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
function userIn({ code, text }: HttpsAnswer, cluster: Cluster, config: string): string {
  const answer = objectIn(text) ?? {}
  const { userInfo } = (answer.status ?? {}) as { userInfo?: { username?: string } }
  if (code === 201 && userInfo?.username) return userInfo.username
  const said = messageOf(answer) ?? ''
  throw new CliError(`The cluster answered ${code}. ${said}`.trimEnd(), {
    hint: remedyFor(code, { cluster, config, said }),
  })
}

/** Returns the command that prints the files of the cluster, with the issuer of the token and the authority that it needs. */
function configCall({ metadata: { name } }: Cluster, token: string, { certificateAuthority }: Session): string {
  const { iss = 'URL' } = objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}
  const ca = certificateAuthority === undefined ? '' : ' --ca FILE'
  return `npm run --silent cluster-config -- --cluster ${name} --issuer ${iss}${ca}`
}

interface Refusal {
  cluster: Cluster
  /** See `configCall`. */
  config: string
  /** What the cluster has said. */
  said: string
}

/** How keyplane words that the key of a cluster may not review. A cluster passes it on. */
const NO_REVIEW = /may not (create reviews|review requests)/

function remedyFor(code: number, { cluster, config, said }: Refusal): string {
  if (code === 401 && byAccounts(cluster))
    return 'The token is of another cluster: spec.server is not the one in spec.credentials.'
  if (code === 401)
    return `Its API server does not accept tokens of keyplane. Compare its files with: ${config}\nOne that has just started fetches the public keys within seconds.`
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
