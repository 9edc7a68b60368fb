/** Writes kube configs (client-go's Config v1), and reads the credential of a written one. */
import { dumpYaml, parseYaml } from '../engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { type Network, networkMembers } from './cluster/network.ts'
import { fromBase64, toBase64 } from './cluster/pem.ts'

/** A command that prints an ExecCredential. Clients run it whenever they need a credential. */
export interface CredentialPlugin {
  command: string
  args?: readonly string[]
}

/** The user of a kube config. The certificate and key are in PEM. */
export type ConfigUser = { token: string } | { certificate: string; key: string } | { exec: CredentialPlugin }

/** What a kube config says about one cluster. */
export interface ConfigParts {
  /** The name of the cluster, user and context: one word that is stable for a virtual cluster. */
  name: string
  /** An https URL. */
  server: string
  /** How clients reach it. */
  network?: Network
  /** PEM. When absent, clients trust the authorities of their system. */
  certificateAuthority?: string
  user: ConfigUser
}

/** Returns the members of the user. A plugin never asks anything: these kube configs are for jobs as well. */
function userMembers(user: ConfigUser): JsonObject {
  if ('token' in user) return { token: user.token }
  if ('exec' in user) {
    const { command, args = [] } = user.exec
    const version = 'client.authentication.k8s.io/v1'
    return { exec: { apiVersion: version, command, args: [...args], interactiveMode: 'Never' } }
  }
  return { 'client-certificate-data': toBase64(user.certificate), 'client-key-data': toBase64(user.key) }
}

/** Returns the kube config as YAML, with a context for each cluster in this order. The first one is the current context. */
export const kubeConfigText = (first: ConfigParts, ...others: readonly ConfigParts[]): Promise<string> => {
  const all = [first, ...others]
  return dumpYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: all.map(({ name, server, network = {}, certificateAuthority }) => ({
      name,
      cluster: {
        server,
        ...(certificateAuthority !== undefined && { 'certificate-authority-data': toBase64(certificateAuthority) }),
        ...networkMembers(network),
      },
    })),
    users: all.map(({ name, user }) => ({ name, user: userMembers(user) })),
    contexts: all.map(({ name }) => ({ name, context: { cluster: name, user: name } })),
    'current-context': first.name,
  })
}

/** Returns the token, or the certificate and key, of a kube config that this module wrote. */
export async function writtenCredential(kubeConfig: string): Promise<Exclude<ConfigUser, { exec: unknown }>> {
  const { value } = await parseYaml(kubeConfig)
  const [{ user }] = (value as unknown as { users: [{ user: Readonly<Record<string, string>> }] }).users
  const { token, 'client-certificate-data': certificate = '', 'client-key-data': key = '' } = user
  return token === undefined ? { certificate: fromBase64(certificate) ?? '', key: fromBase64(key) ?? '' } : { token }
}
