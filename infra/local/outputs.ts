/** Writes the files for clients: the certificate authority, the access key, a kube config with both, and what a CI job is given. */
import { join } from 'node:path'
import { deploymentName } from '../../lib/clusters/deployment.ts'
import { kubeConfigFile } from './host/kubeconfigfile.ts'
import { writeDurably } from './host/stored.ts'
import { DEMO } from './virtualcluster/demo.ts'

export interface OutputFiles {
  /** Absolute paths. */
  ca: string
  accessKey: string
  kubeconfig: string
  /** Sets the variables that a job of GitHub Actions has, and those with which its snippet is configured. */
  jobEnvironment: string
}

export interface Outputs {
  url: string
  authority: string
  accessKey: string
  job: { requestUrl: string; requestToken: string; credential: string }
}

/** Writes ca.crt (readable by all), access-key, kubeconfig and job.env (all 0600). The access key has no trailing newline. */
export async function writeOutputs(folder: string, { url, authority, accessKey, job }: Outputs): Promise<OutputFiles> {
  const files = {
    ca: join(folder, 'ca.crt'),
    accessKey: join(folder, 'access-key'),
    kubeconfig: join(folder, 'kubeconfig'),
    jobEnvironment: join(folder, 'job.env'),
  }
  const config = kubeConfigFile({
    name: deploymentName(url),
    server: url,
    certificateAuthority: authority,
    token: accessKey,
    namespace: DEMO.namespace,
  })
  await Promise.all([
    writeDurably(files.ca, authority, 0o644),
    writeDurably(files.accessKey, accessKey),
    writeDurably(files.kubeconfig, config),
    writeDurably(files.jobEnvironment, jobEnvironment(url, job)),
  ])
  return files
}

/** Every value is a URL, a token or a name, so that none needs quotes. */
const jobEnvironment = (url: string, { requestUrl, requestToken, credential }: Outputs['job']): string =>
  Object.entries({
    ACTIONS_ID_TOKEN_REQUEST_URL: requestUrl,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: requestToken,
    KEYPLANE: url,
    CREDENTIAL: credential,
  })
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('')
