/** Writes kube configs for servers that the step names, connected clusters and the management API, and changes those that the API has written. */
import { type Network, networkMembers } from '../../../lib/clusters/cluster/network.ts'
import { type ExecApi, type Plugin, pluginUser } from '../../core/src/plugin.ts'

export interface ConfigParts extends Network {
  /** The name of the cluster, the user and the context. */
  name: string
  server: string
  /** PEM. */
  certificateAuthority?: string
  user: { token: string } | Plugin
}

/** Returns a kube config as JSON, which is YAML. */
export function kubeConfigText({ name, server, certificateAuthority, user, ...network }: ConfigParts): string {
  const authority = certificateAuthority && {
    'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64'),
  }
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server, ...authority, ...networkMembers(network) } }],
    users: [{ name, user: 'token' in user ? user : pluginUser(user) }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}

/** Returns a kube config that the API has written, with a plugin in place of each token, in their order. */
export function withPlugins(text: string, plugins: readonly Plugin[]): string {
  let next = 0
  return text.replace(/^( *)token: .*$/gm, (line, indent) => {
    const plugin = plugins[next++]
    return plugin === undefined ? line : `${indent}exec: ${JSON.stringify(pluginUser(plugin).exec)}`
  })
}

/** Returns a kube config that the API has written with a plugin in v1, in this version. */
export const withExecApi = (text: string, execApi: ExecApi): string =>
  text.replace(/^( *apiVersion: client\.authentication\.k8s\.io\/)v1$/m, `$1${execApi}`)
