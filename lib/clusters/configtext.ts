/** Writes kube configs (client-go's Config v1), and reads the credential of a written one. */
import { dumpYaml, parseYaml } from '../engine/meta/encoding/yaml.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import { toBase64 } from './cluster/pem.ts'
import { readKubeConfig } from './cluster/readkubeconfig.ts'

/** A command that prints an ExecCredential. Clients run it whenever they need a credential. */
export interface CredentialPlugin {
  command: string
  args?: readonly string[]
}

/** The user of a kube config. The certificate and key are in PEM. */
export type ConfigUser = { token: string } | { certificate: string; key: string } | { exec: CredentialPlugin }

interface ConfigParts {
  /** The name of the cluster, user and context: one word that is stable for a virtual cluster. */
  name: string
  /** An https URL. */
  server: string
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

/** Returns the kube config as YAML. */
export const kubeConfigText = ({ name, server, certificateAuthority, user }: ConfigParts): Promise<string> =>
  dumpYaml({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: {
          server,
          ...(certificateAuthority !== undefined && { 'certificate-authority-data': toBase64(certificateAuthority) }),
        },
      },
    ],
    users: [{ name, user: userMembers(user) }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })

/** Returns the token, or the certificate and key, of a kube config that this module wrote. */
export async function writtenCredential(kubeConfig: string): Promise<Exclude<ConfigUser, { exec: unknown }>> {
  const { value } = await parseYaml(kubeConfig)
  const {
    token,
    certificate = '',
    key = '',
  } = readKubeConfig(value, '', (place, why) => {
    throw new Error(`written kube config: ${place} ${why}`)
  })
  return token === undefined ? { certificate, key } : { token }
}
