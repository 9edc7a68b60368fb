/** Asks the API for tokens and kube configs, with an access key. */

import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import type { Api } from './exchange.ts'
import { send } from './https.ts'
import { objectOf, refusal } from './refusal.ts'
import { describe, type Target } from './target.ts'

/** What servers have that do not say it. */
const USUAL_PREFIX = 'p-'
const GROUP = 'management.platform/v1'
const EXEC_CREDENTIAL = 'application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1'

export interface Token {
  token: string
  /** Unix milliseconds. Absent for an access key without an end. */
  expires?: number
}

/** A program that prints an ExecCredential. */
export interface Plugin {
  command: string
  args: string[]
}

type Warn = Pick<Log, 'warning'>
type ClusterTarget = Exclude<Target, { type: 'management' }>

/** Returns a token for a cluster that is valid for so many seconds, or for a shorter time if the key is. */
export async function requestToken(
  api: Api,
  key: string,
  { target, seconds }: { target: ClusterTarget; seconds: number },
  log: Warn,
): Promise<Token> {
  const answer =
    target.type === 'cluster'
      ? await post(api, key, {
          path: 'directclusterendpointtokens',
          kind: 'DirectClusterEndpointToken',
          spec: { ttl: seconds, scope: { clusters: [{ cluster: target.name }] } },
          what: `the request for a token of ${describe(target)}`,
          log,
        })
      : await post(api, key, {
          ...kubeConfigOf(api, target),
          spec: { certificateTTL: seconds },
          accept: EXEC_CREDENTIAL,
          log,
        })
  const { token, expirationTimestamp } = answer
  if (typeof token !== 'string' || !/^[\x21-\x7e]+$/.test(token))
    throw new Failure(`the API answered without a token for ${describe(target)}`)
  return { token, ...expiry(expirationTimestamp) }
}

export interface KubeConfig extends Pick<Token, 'expires'> {
  text: string
}

/** Returns the kube config of a virtual cluster, with a token of so many seconds or with a plugin that gets tokens. */
export async function requestKubeConfig(
  api: Api,
  key: string,
  { target, user }: { target: ClusterTarget & { type: 'virtualCluster' }; user: { seconds: number } | Plugin },
  log: Pick<Log, 'mask' | 'warning'>,
): Promise<KubeConfig> {
  const spec = 'seconds' in user ? { certificateTTL: user.seconds } : { exec: user }
  const { kubeConfig, expirationTimestamp } = await post(api, key, { ...kubeConfigOf(api, target), spec, log })
  if (typeof kubeConfig !== 'string' || kubeConfig === '')
    throw new Failure(`the API answered without a kube config of ${describe(target)}`)
  for (const [, token = ''] of kubeConfig.matchAll(/^ *token: *["']?([^\s"']+)/gm)) log.mask(token)
  return { text: kubeConfig, ...expiry(expirationTimestamp) }
}

export interface Self extends Pick<Token, 'expires'> {
  projectNamespacePrefix: string
}

/** Returns what the server says about the access key and about itself, and thereby checks that the key works. */
export async function readSelf(api: Api, key: string, log: Warn): Promise<Self> {
  const what = 'the check of the access key'
  const { expirationTimestamp, projectNamespacePrefix } = await post(api, key, {
    path: 'selves',
    kind: 'Self',
    spec: {},
    what,
    log,
  })
  const prefix = typeof projectNamespacePrefix === 'string' ? projectNamespacePrefix : USUAL_PREFIX
  return { projectNamespacePrefix: prefix, ...expiry(expirationTimestamp) }
}

const kubeConfigOf = ({ projectNamespacePrefix }: Api, target: ClusterTarget & { type: 'virtualCluster' }) => ({
  path: `namespaces/${projectNamespacePrefix}${target.project}/virtualclusterinstances/${target.name}/kubeconfig`,
  kind: 'VirtualClusterInstanceKubeConfig',
  what: `the request for a kube config of ${describe(target)}`,
})

interface Create {
  path: string
  kind: string
  spec: object
  accept?: string
  what: string
  log: Warn
}

/** Sends a create and returns its status. */
async function post(
  { url, certificateAuthority }: Api,
  key: string,
  { path, kind, spec, accept = 'application/json', what, log }: Create,
): Promise<Record<string, unknown>> {
  const answer = await send({
    url: `${url}/apis/${GROUP}/${path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, accept, 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: GROUP, kind, spec }),
    ...(certificateAuthority && { authorities: certificateAuthority }),
  })
  const { status } = objectOf(answer) ?? {}
  if (answer.code !== 201) throw refusal(what, answer)
  for (const header of answer.headers.warning ?? []) {
    for (const [, text = ''] of header.matchAll(/\d{3} \S+ "((?:[^"\\]|\\.)*)"/g))
      log.warning(text.replace(/\\(.)/g, '$1'))
  }
  return typeof status === 'object' && status !== null ? (status as Record<string, unknown>) : {}
}

function expiry(timestamp: unknown): Pick<Token, 'expires'> {
  const expires = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(expires) ? {} : { expires }
}
