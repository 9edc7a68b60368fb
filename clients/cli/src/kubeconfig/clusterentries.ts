/** Makes the entries of kube configs: for virtual clusters, for a connected cluster, and for the management API. */
import { resolve } from 'node:path'
import { deploymentName, entryNameOf } from '../../../../lib/clusters/deployment.ts'
import type { JsonObject } from '../../../../lib/engine/meta/types.ts'
import { CURL_SECONDS, curlArguments } from '../../../core/src/curl.ts'
import { packageUrl } from '../../../core/src/documentation.ts'
import { isName } from '../../../core/src/forms.ts'
import type { Cluster } from '../../../core/src/objects.ts'
import { type ExecApi, pluginUser } from '../../../core/src/plugin.ts'
import { ALL } from '../api/audience.ts'
import { addressOf, usableCluster, withoutObject } from '../api/clusters.ts'
import { audienceOf, clusterOf, type Exchange, exchangedClusters, NAMED_CLUSTERS } from '../api/exchange.ts'
import {
  clusterKubeConfigRequest,
  credentialRequest,
  type Form,
  issueCredential,
  kubeConfigRequest,
} from '../api/issue.ts'
import { projectNamespace } from '../api/projects.ts'
import { clusterIn, userIn } from '../api/servertext.ts'
import type { Session } from '../api/session.ts'
import { StatusError } from '../api/status.ts'
import { type ClusterTarget, connectedCluster, optionsFor, type Target } from '../api/target.ts'
import { configFile } from '../config/paths.ts'
import type { Credential } from '../credentials/credential.ts'
import { CliError, UsageError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { curlFile, slashes, writeCurlFile } from './curlfile.ts'
import type { Entry } from './entries.ts'

export const WAYS = ['exec', 'curl', 'token', 'cert'] as const
export type Way = (typeof WAYS)[number]

export interface Making {
  io: Io
  session: Session
  way: Way
  /** The life of a credential in the file, in seconds; undefined for that of the server. */
  life: number | undefined
  /** The kube config to write, beside which curl has its files; undefined for standard output. */
  file: string | undefined
  /** The version in which a plugin is named; v1 by default. */
  execApi?: ExecApi | undefined
}

const installKeyplane = (server: string): string =>
  `keyplane is not on the PATH. Install it with: npm install --global ${packageUrl(server)} ("keyplane kubeconfig --with curl" makes a kube config that needs no installation.)`
const INSTALL_CURL = 'curl is not on the PATH. Install it with the package manager of this system.'

/** Returns the entry of a virtual cluster, whose address the server knows. Asks for no credential if a plugin does that. */
export async function virtualClusterEntry(making: Making, target: Target & { kind: 'virtualCluster' }): Promise<Entry> {
  const { session, way, life } = making
  const { project, name } = target
  const namespace = await projectNamespace(session, project)
  const ask = async (spec: JsonObject): Promise<string> => {
    const { path, body } = kubeConfigRequest(namespace, name, spec)
    return kubeConfigIn(await session.post(path, body).catch(explained), session)
  }
  const entry = {
    name: entryNameOf(`${name}.${namespace}`, session.server),
    mark: { server: session.server, target: labelOf(target) },
  }
  if (way === 'token' || way === 'cert') {
    const text = await ask({ ...(life !== undefined && { certificateTTL: life }), clientCert: way === 'cert' })
    return { ...entry, cluster: await clusterIn(text), user: staticUser(await userIn(text)) }
  }
  const user = await plugin(making, target, entry)
  const { command, args } = user.exec as { command: string; args: string[] }
  return { ...entry, cluster: await clusterIn(await ask({ exec: { command, args } })), user }
}

/** Returns the kube config in an answer. */
function kubeConfigIn({ status }: JsonObject, { server }: Session): string {
  const { kubeConfig } = (status ?? {}) as { kubeConfig?: unknown }
  if (typeof kubeConfig !== 'string') throw new CliError(`${server} answered without a kube config.`)
  return kubeConfig
}

/** The life of a token in seconds, if nobody says it: that of the server. */
const DAY = 86_400

/** Returns the entry of a connected cluster. Without `known`, its address, the object of the cluster has it. */
export async function clusterEntry(
  making: Making,
  target: Target & { kind: 'cluster' },
  known?: Registered,
): Promise<Entry> {
  const { session, way, life = DAY } = making
  if (way === 'cert') throw new UsageError('--with cert is for virtual clusters: nothing else signs certificates.')
  const entry = {
    name: entryNameOf(target.name, session.server),
    mark: { server: session.server, target: labelOf(target) },
  }
  if (way === 'token' && known === undefined) {
    const { path, body } = clusterKubeConfigRequest(target.name, life)
    const answer = await session.post(path, body).catch((error: unknown) => withoutObject(error, target.name))
    const text = kubeConfigIn(answer, session)
    return { ...entry, cluster: await clusterIn(text), user: staticUser(await userIn(text)) }
  }
  const { cluster, form } = known ?? registered(await usableCluster(session, target.name))
  const user =
    way === 'token'
      ? staticUser((await issueCredential(session, target, life, { form })).credential)
      : await plugin(making, target, entry, { form })
  return { ...entry, cluster, user }
}

/** The address of a connected cluster, and which tokens it accepts. */
export interface Registered {
  cluster: JsonObject
  form: Form
}

/** Returns what the object of a cluster says. */
export const registered = (object: Cluster): Registered => ({
  cluster: addressOf(object),
  form: object.spec?.tokens === 'ServiceAccounts' ? 'account' : 'token',
})

/**
 * Returns the entries of the targets, for which one exchange of an ID token gets all tokens. With a plugin, their users name it with all of
 * them. Returns undefined if the ID token was exchanged for a key, which serves all clusters.
 */
export async function exchangedEntries(
  making: Making,
  exchange: Exchange,
  targets: readonly ClusterTarget[] | typeof ALL,
): Promise<Entry[] | undefined> {
  const { io, session, way } = making
  const audiences = targets === ALL ? [NAMED_CLUSTERS] : targets.map(audienceOf)
  const found = await exchangedClusters(io, exchange, audiences)
  if (found === undefined) return undefined
  return Promise.all(
    found.map(async ({ name: context, cluster, credential: { token } }, index) => {
      const target = targets === ALL ? connectedCluster(clusterOf({ name: context })) : targets[index]
      if (target === undefined) throw new CliError(`${session.server} answered with another kube config.`)
      const name = entryNameOf(
        target.kind === 'cluster' ? target.name : nameWithNamespace(context, target),
        session.server,
      )
      const entry = { name, mark: { server: session.server, target: labelOf(target) } }
      const others =
        targets === ALL ? [ALL] : targets.filter((one) => one !== target).map((one) => optionsFor(one)[1] ?? '')
      return { ...entry, cluster, user: way === 'token' ? { token } : await plugin(making, target, entry, { others }) }
    }),
  )
}

/** Returns the name of a virtual cluster with its namespace, as its context begins. To ask for the namespace would need a key. */
function nameWithNamespace(context: string, { name }: ClusterTarget): string {
  const own = context.replace(/@.*$/, '')
  if (own.startsWith(`${name}.`) && isName(own.slice(name.length + 1))) return own
  throw new CliError(`The server answered with a kube config of another virtual cluster than ${name}.`)
}

/** Returns the entry of the management API. Its credential is the access key itself. */
export async function managementEntry(making: Making): Promise<Entry> {
  const { session, way } = making
  const { server, certificateAuthority, context } = session
  if (way === 'curl' || way === 'cert') {
    throw new UsageError(`The management API takes the access key itself: use --with exec or token, not ${way}.`)
  }
  const target = { kind: 'management' } as const
  const entry = { name: context ?? deploymentName(server), mark: { server, target: labelOf(target) } }
  return {
    ...entry,
    cluster: {
      server,
      ...(certificateAuthority !== undefined && {
        'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64'),
      }),
    },
    user: way === 'token' ? { token: await session.key() } : await plugin(making, target, entry),
  }
}

const labelOf = (target: Target): string =>
  target.kind === 'management' ? 'management' : `${target.kind}/${optionsFor(target)[1]}`

async function plugin(
  { io, session, way, file, execApi }: Making,
  target: Target,
  entry: Pick<Entry, 'name' | 'mark'>,
  { form = 'token', others = [] }: { form?: Form; others?: readonly string[] } = {},
): Promise<JsonObject> {
  if (way === 'curl' && target.kind !== 'management') {
    if (file === undefined)
      throw new UsageError('--with curl needs --output FILE or --merge: it writes files beside it.')
    const path = curlFile(file, entry)
    const { path: below, body } = await credentialRequest(session, target, CURL_SECONDS, form)
    const { server, certificateAuthority } = session
    await writeCurlFile(path, {
      url: `${server}${below}`,
      body,
      key: await session.key(),
      certificateAuthority,
      execApi,
    })
    return pluginUser({ command: 'curl', args: curlArguments(slashes(path)), installHint: INSTALL_CURL, execApi })
  }
  const context = session.context === undefined ? [] : ['--context', session.context]
  // kubectl gives its own environment to the plugin, but later ones may lack these variables.
  const own = configFile(io)
  const usual = configFile({ env: { ...io.env, KEYPLANE_CONFIG: undefined, XDG_CONFIG_HOME: undefined } })
  return pluginUser({
    command: 'keyplane',
    args: [
      'credential',
      ...optionsFor(target),
      ...others.flatMap((one) => ['--also', one]),
      ...(form === 'token' ? [] : ['--with', form]),
      ...context,
    ],
    ...(own !== usual && { env: { KEYPLANE_CONFIG: resolve(own) } }),
    installHint: installKeyplane(session.server),
    execApi,
  })
}

function staticUser(credential: Credential | Record<string, string>): JsonObject {
  if ('token' in credential && typeof credential.token === 'string') return { token: credential.token }
  const { clientCertificateData = '', clientKeyData = '' } = credential as Record<string, string>
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return { 'client-certificate-data': base64(clientCertificateData), 'client-key-data': base64(clientKeyData) }
}

/** Older servers do not know `spec.exec`, and refuse what they do not know. */
function explained(error: unknown): never {
  if (error instanceof StatusError && error.code === 400 && /unknown field "spec\.exec"/.test(error.message)) {
    throw new CliError('This server cannot make kube configs with a plugin.', {
      exitCode: 4,
      hint: 'Use --with token, or a newer server.',
      cause: error,
    })
  }
  throw error
}
