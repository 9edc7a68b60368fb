/** Writes the files for clients: the certificate authority, the access key, and a kube config with both. */
import { join } from 'node:path'
import { kubeConfigFile } from './host/kubeconfigfile.ts'
import { writeDurably } from './host/stored.ts'
import { DEMO } from './virtualcluster/demo.ts'

export interface OutputFiles {
  /** Absolute paths. */
  ca: string
  accessKey: string
  kubeconfig: string
}

/** Writes ca.crt (readable by all), access-key and kubeconfig (both 0600). The access key has no trailing newline. */
export async function writeOutputs(
  folder: string,
  { url, authority, accessKey }: { url: string; authority: string; accessKey: string },
): Promise<OutputFiles> {
  const files = {
    ca: join(folder, 'ca.crt'),
    accessKey: join(folder, 'access-key'),
    kubeconfig: join(folder, 'kubeconfig'),
  }
  const config = kubeConfigFile({
    name: 'keyplane',
    server: url,
    certificateAuthority: authority,
    token: accessKey,
    namespace: DEMO.namespace,
  })
  await Promise.all([
    writeDurably(files.ca, authority, 0o644),
    writeDurably(files.accessKey, accessKey),
    writeDurably(files.kubeconfig, config),
  ])
  return files
}
