/** The virtual cluster behind p-demo/demo: the small one of this project, or a real kube-apiserver where there is one. */
import { join } from 'node:path'
import { virtualClusterAudience } from '../../lib/token/audience.ts'
import { createAccessReview } from './accessreview.ts'
import type { DataDir } from './datadir.ts'
import type { Settings } from './settings.ts'
import { createTokenVerifier } from './tokenverifier.ts'
import { startVirtualCluster } from './virtualcluster.ts'

export interface DemoCluster {
  /** `https://127.0.0.1:PORT` */
  url: string
  /** PEM of the authority of its serving certificate. */
  certificateAuthority: string
  /** Of a user who may create, approve and delete requests for client certificates. */
  managerToken: string
  /** Once: from now on it is ready, and takes tokens of this issuer for this identity. Throws a StartupError. */
  trust(issuer: TrustedIssuer): Promise<void>
  close(): Promise<void>
}

export interface TrustedIssuer {
  issuer: string
  /** PEM of the authority of the issuer's server. */
  authority: string
  /** For the reviews that it asks for. */
  accessKey: string
  identity: { type: 'virtualCluster'; namespace: string; name: string; uid: string }
}

const STATE = 'virtualcluster.json'

/** Throws a StartupError. */
export async function startDemoCluster(
  { kubebuilderAssets: assets }: Pick<Settings, 'kubebuilderAssets'>,
  dataDir: DataDir,
  now: () => number,
): Promise<DemoCluster> {
  const options = { ...dataDir.stateFile(STATE), now }
  if (assets !== undefined) {
    const { prepareKubeApiserver } = await import('./kubeapiserver.ts')
    return prepareKubeApiserver({ ...options, assets, folder: join(dataDir.path, 'kube-apiserver') })
  }
  const { token, accept, ...cluster } = await startVirtualCluster(options)
  return {
    ...cluster,
    managerToken: token.manager,
    async trust({ issuer, authority, accessKey, identity: { namespace, name, uid } }) {
      const audience = virtualClusterAudience(issuer, namespace, name, uid)
      const verify = createTokenVerifier({ issuer, authority, audience, now })
      accept(verify, createAccessReview({ api: issuer, authority, accessKey }))
    },
  }
}
