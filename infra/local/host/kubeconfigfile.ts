/** Formats self-contained kube configs as JSON, which is valid YAML. */

export interface KubeConfigFile {
  /** Name of the cluster, user and context. */
  name: string
  server: string
  /** PEM. */
  certificateAuthority: string
  token: string
  namespace?: string
}

/** Returns client-go's Config v1, for kubectl and for Secrets Manager. */
export function kubeConfigFile({ name, server, certificateAuthority, token, namespace }: KubeConfigFile): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name,
        cluster: { server, 'certificate-authority-data': Buffer.from(certificateAuthority).toString('base64') },
      },
    ],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, ...(namespace !== undefined && { namespace }) } }],
    'current-context': name,
  }
  return `${JSON.stringify(config, null, 2)}\n`
}
