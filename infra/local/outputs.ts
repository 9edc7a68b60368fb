/** The files for people: what trusts the server, what opens it, and both for kubectl. */
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

/** Writes ca.crt (readable for all), access-key and kubeconfig (0600, without a line end: `$(cat …)` or not). */
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
