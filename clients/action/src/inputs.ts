/** Reads and validates the inputs of the step, which the runner passes as `INPUT_NAME`. */

import { durationSeconds } from '../../core/src/durations.ts'
import { isBearer, isClientId, isName, virtualClusterIn } from '../../core/src/forms.ts'
import { EXEC_APIS, type ExecApi, isExecApi } from '../../core/src/plugin.ts'
import type { Target } from './api/target.ts'
import { readAuthorities } from './authorities.ts'
import { Failure } from './runner/failure.ts'

export interface Inputs {
  /** The URL of the API, without a slash at its end. */
  url: string
  audience: string
  /** PEM. */
  certificateAuthority?: string
  source: { credential: string; scope?: string } | { key: string }
  target: Target
  /** Seconds, if the step says so. */
  ttl?: number
  path?: string
  renew: boolean
  /** The version in which a kube config with `renew` names its plugin. */
  execApi: ExecApi
  outputKey: boolean
}

/** Returns the value of an input as the runner passes it, without spaces around it. */
export const readInput = (env: NodeJS.ProcessEnv, name: string): string =>
  (env[`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`] ?? '').trim()

/** Returns all inputs. Throws a Failure that names the first input that is wrong. */
export function readInputs(env: NodeJS.ProcessEnv): Inputs {
  const read = (name: string): string => readInput(env, name)
  const url = readUrl('url', read('url'))
  const ttl = read('ttl')
  const path = read('path')
  const authority = read('certificate-authority')
  if (/\p{Cc}/u.test(path)) throw new Failure('path contains control characters')
  return {
    url,
    audience: read('audience') || url,
    ...(authority && { certificateAuthority: readAuthorities('certificate-authority', authority) }),
    source: readSource(read),
    target: readTarget(read, authority),
    ...(ttl && { ttl: readSeconds(ttl) }),
    ...(path && { path }),
    ...readRenewal(read),
    outputKey: readBoolean('output-key', read('output-key')),
  }
}

/** What a step for several clusters cannot have: its one request gets their tokens, and nothing else. */
const FOR_ONE = ['key', 'ttl', 'server', 'output-key'] as const

function readClusters(read: Read, text: string): Target {
  const [name = '', ...others] = text.split(/[\s,]+/).filter((one) => one !== '')
  const all = [name, ...others]
  if (!all.every(isName))
    throw new Failure('cluster must be the name of a connected cluster, such as west, or several: eu, us')
  if (others.length === 0) return { type: 'cluster', name }
  if (new Set(all).size < all.length) throw new Failure('cluster names a cluster twice')
  if (all.length > MOST_CLUSTERS) throw new Failure(`cluster may name at most ${MOST_CLUSTERS} clusters`)
  const given = FOR_ONE.find((input) => !/^(false|False|FALSE)?$/.test(read(input)))
  if (given) throw new Failure(`${given} is for one cluster, and cluster names several`)
  return { type: 'cluster', name, others }
}

const MOST_CLUSTERS = 20

type Read = (name: string) => string

function readRenewal(read: Read): Pick<Inputs, 'renew' | 'execApi'> {
  const renew = readBoolean('renew', read('renew'))
  const execApi = read('exec-api') || 'v1'
  if (!isExecApi(execApi)) throw new Failure(`exec-api must be one of ${EXEC_APIS.join(', ')}`)
  if (execApi !== 'v1' && !renew) throw new Failure('exec-api is for kube configs with a plugin: it needs renew: true')
  return { renew, execApi }
}

function readUrl(input: string, value: string): string {
  if (value === '') throw new Failure(`${input} is missing`)
  const url = URL.parse(value)
  if (url?.protocol !== 'https:') throw new Failure(`${input} must be an https URL`)
  if (url.username || url.password || url.search || url.hash)
    throw new Failure(`${input} must have no user, query or fragment`)
  return url.href.replace(/\/+$/, '')
}

function readSource(read: Read): Inputs['source'] {
  const [credential, key, scope] = [read('credential'), read('key'), read('scope')]
  if (credential && key) throw new Failure('give either credential or key, not both')
  if (key) {
    if (!isBearer(key)) throw new Failure('key is not an access key: it contains spaces or other characters')
    if (scope) throw new Failure('scope narrows the key of an exchange: it needs credential, not key')
    return { key }
  }
  if (!credential) {
    throw new Failure(
      'give credential, the NAME@UID of a FederatedIdentityCredential, or key. An empty key is a secret that this job does not get, as in workflows that a pull request of a fork starts',
    )
  }
  if (!isClientId(credential)) {
    throw new Failure(
      'credential must be NAME@UID of a FederatedIdentityCredential: kubectl get federatedidentitycredentials -o wide shows it as CLIENT ID',
    )
  }
  return { credential, ...(scope && { scope }) }
}

function readTarget(read: Read, authority: string): Target {
  const [virtualCluster, cluster, server] = [read('virtual-cluster'), read('cluster'), read('server')]
  const serverAuthority = read('server-certificate-authority')
  if (virtualCluster && cluster) throw new Failure('give either virtual-cluster or cluster, not both')
  if (!cluster && (server || serverAuthority))
    throw new Failure('server and server-certificate-authority belong to cluster, which is missing')
  if (!server && serverAuthority) throw new Failure('server-certificate-authority belongs to server, which is missing')
  if (virtualCluster) {
    const found = virtualClusterIn(virtualCluster)
    if (!found) throw new Failure('virtual-cluster must be PROJECT/NAME, such as shop/staging')
    return { type: 'virtualCluster', ...found }
  }
  if (!cluster) return { type: 'management' }
  const target = readClusters(read, cluster)
  if (!server) return target
  const given = serverAuthority || authority
  const input = serverAuthority ? 'server-certificate-authority' : 'certificate-authority'
  const address = {
    server: readUrl('server', server),
    ...(given && { certificateAuthority: readAuthorities(input, given) }),
  }
  return { ...target, address } as Target
}

/** Returns the seconds of a lifetime: a duration, or a number of seconds. */
function readSeconds(text: string): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : durationSeconds(text)
  if (!seconds) throw new Failure('ttl must be a duration such as 90s, 30m, 12h or 7d')
  return seconds
}

/** Reads a boolean as YAML 1.2 writes it, like the toolkit of GitHub. */
function readBoolean(input: string, text: string): boolean {
  if (/^(true|True|TRUE)$/.test(text)) return true
  if (/^(false|False|FALSE)?$/.test(text)) return false
  throw new Failure(`${input} must be true or false`)
}
