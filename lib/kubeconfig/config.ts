/** The text of a kube config: client-go's Config v1. */
import { dumpYaml } from '../meta/encoding/yaml.ts'
import { toBase64 } from './cluster/pem.ts'

export interface ConfigParts {
  /** Of cluster, user and context: one word that stays the same for the same virtual cluster. */
  name: string
  /** An https URL. */
  server: string
  /** PEM; absent = clients trust what their system trusts. */
  certificateAuthority?: string
  /** PEM for certificate and key. */
  user: { token: string } | { certificate: string; key: string }
}

/** YAML that clients and other tools read. */
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
