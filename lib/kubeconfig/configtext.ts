/** Writes kube configs (client-go's Config v1). */
import { dumpYaml } from '../meta/encoding/yaml.ts'
import { toBase64 } from './cluster/pem.ts'

export interface ConfigParts {
  /** The name of the cluster, user and context: one word that is stable for a virtual cluster. */
  name: string
  /** An https URL. */
  server: string
  /** PEM. When absent, clients trust the authorities of their system. */
  certificateAuthority?: string
  /** The certificate and key are in PEM. */
  user: { token: string } | { certificate: string; key: string }
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
    users: [
      {
        name,
        user:
          'token' in user
            ? { token: user.token }
            : { 'client-certificate-data': toBase64(user.certificate), 'client-key-data': toBase64(user.key) },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  })
