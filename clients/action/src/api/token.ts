/** Asks the API for tokens and kube configs, with an access key. */

import { isProxyUrl, isTlsServerName } from '../../../../lib/clusters/cluster/network.ts'
import { isBearer } from '../../../core/src/forms.ts'
import type { Cluster } from '../../../core/src/objects.ts'
import type { Plugin } from '../../../core/src/plugin.ts'
import { prefixOf } from '../../../core/src/projects.ts'
import {
  type Create,
  clusterKubeConfig,
  clusterToken,
  EXEC_CREDENTIAL,
  GROUP_VERSION,
  kubeConfig,
} from '../../../core/src/requests.ts'
import { warningsIn } from '../../../core/src/warnings.ts'
import { Failure } from '../runner/failure.ts'
import type { Log } from '../runner/log.ts'
import type { Api } from './exchange.ts'
import { send } from './https.ts'
import { objectOf, refusal } from './refusal.ts'
import { type Address, type ClusterTarget, describe } from './target.ts'
import { tokensIn } from './writtentokens.ts'

export interface Token {
  token: string
  /** Unix milliseconds. Absent for an access key without an end. */
  expires?: number
}

type Warn = Pick<Log, 'warning'>

/** Returns a token for a cluster that is valid for so many seconds, or for a shorter time if the key is. */
export async function requestToken(
  api: Api,
  key: string,
  { target, seconds }: { target: ClusterTarget; seconds: number },
  log: Warn,
): Promise<Token> {
  const what = `the request for a token of ${describe(target)}`
  const answer =
    target.type === 'cluster'
      ? await post(api, key, { create: clusterToken(target.name, seconds), what, log })
      : await post(api, key, {
          ...kubeConfigOf(api, target, { certificateTTL: seconds }),
          accept: EXEC_CREDENTIAL,
          log,
        })
  const { token, expirationTimestamp } = answer
  if (!isBearer(token)) throw new Failure(`the API answered without a token for ${describe(target)}`)
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
  return askedConfig(api, key, { ...kubeConfigOf(api, target, spec), log }, target)
}

/** Returns the kube config of a connected cluster whose object has the address, with a token of so many seconds. */
export async function requestClusterConfig(
  api: Api,
  key: string,
  { name, seconds }: { name: string; seconds: number },
  log: Pick<Log, 'mask' | 'warning'>,
): Promise<KubeConfig> {
  const target = { type: 'cluster', name } as const
  const what = `the request for a kube config of ${describe(target)}`
  return askedConfig(api, key, { create: clusterKubeConfig(name, seconds), what, log }, target)
}

async function askedConfig(
  api: Api,
  key: string,
  asked: Asked & { log: Pick<Log, 'mask' | 'warning'> },
  target: ClusterTarget,
): Promise<KubeConfig> {
  const { log } = asked
  const { kubeConfig: text, expirationTimestamp } = await post(api, key, asked)
  if (typeof text !== 'string' || text === '')
    throw new Failure(`the API answered without a kube config of ${describe(target)}`)
  for (const token of tokensIn(text)) log.mask(token)
  return { text, ...expiry(expirationTimestamp) }
}

/** Returns how clients reach a connected cluster, as its object says. */
export async function readAddress(
  { url, certificateAuthority }: Api,
  key: string,
  name: string,
  log: Warn,
): Promise<Address> {
  const what = `the request for the address of cluster ${name}`
  const answer = await send({
    url: `${url}/apis/${GROUP_VERSION}/clusters/${name}`,
    method: 'GET',
    headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
    ...(certificateAuthority && { authorities: certificateAuthority }),
  })
  if (answer.code !== 200) throw refusal(what, answer)
  for (const text of warningsIn(answer.headers.warning ?? [])) log.warning(text)
  const { spec, status } = (objectOf(answer) ?? {}) as Partial<Cluster>
  const { server, certificateAuthorityData: data, proxyURL = '', tlsServerName = '' } = spec ?? {}
  if (URL.parse(server ?? '')?.protocol !== 'https:' || server === undefined)
    throw new Failure(`the API answered without the address of cluster ${name}`)
  if ((proxyURL !== '' && !isProxyUrl(proxyURL)) || (tlsServerName !== '' && !isTlsServerName(tlsServerName)))
    throw new Failure(`the API answered with a proxy or a TLS name of cluster ${name} that no kube config may have`)
  if (status?.canUse === false)
    throw new Failure(
      `the access key may see cluster ${name}, but not use it: spec.access of the cluster or the scope of the key does not allow it`,
    )
  return {
    server,
    ...(data && { certificateAuthority: Buffer.from(data, 'base64').toString() }),
    ...(proxyURL && { proxyURL }),
    ...(tlsServerName && { tlsServerName }),
  }
}

export interface Self extends Pick<Token, 'expires'> {
  projectNamespacePrefix: string
}

/** Returns what the server says about the access key and about itself, and thereby checks that the key works. */
export async function readSelf(api: Api, key: string, log: Warn): Promise<Self> {
  const what = 'the check of the access key'
  const body = { apiVersion: GROUP_VERSION, kind: 'Self', spec: {} }
  const create = { path: 'selves', body }
  const { expirationTimestamp, projectNamespacePrefix } = await post(api, key, { create, what, log })
  const said = typeof projectNamespacePrefix === 'string' ? { projectNamespacePrefix } : {}
  return { projectNamespacePrefix: prefixOf(said), ...expiry(expirationTimestamp) }
}

const kubeConfigOf = (
  { projectNamespacePrefix }: Api,
  target: ClusterTarget & { type: 'virtualCluster' },
  spec: Record<string, unknown>,
) => ({
  create: kubeConfig(`${projectNamespacePrefix}${target.project}`, target.name, spec),
  what: `the request for a kube config of ${describe(target)}`,
})

interface Asked {
  create: Create
  accept?: string
  what: string
  log: Warn
}

/** Sends a create and returns its status. */
async function post(
  { url, certificateAuthority }: Api,
  key: string,
  { create: { path, body }, accept = 'application/json', what, log }: Asked,
): Promise<Record<string, unknown>> {
  const answer = await send({
    url: `${url}/apis/${GROUP_VERSION}/${path}`,
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, accept, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(certificateAuthority && { authorities: certificateAuthority }),
  })
  const { status } = objectOf(answer) ?? {}
  if (answer.code !== 201) throw refusal(what, answer)
  for (const text of warningsIn(answer.headers.warning ?? [])) log.warning(text)
  return typeof status === 'object' && status !== null ? (status as Record<string, unknown>) : {}
}

function expiry(timestamp: unknown): Pick<Token, 'expires'> {
  const expires = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(expires) ? {} : { expires }
}
