/** Starts the virtual cluster behind p-demo/demo: the built-in demo, or a real kube-apiserver when one is configured. */
import { join } from 'node:path'
import { virtualClusterAudience } from '../../lib/clusters/token/audience.ts'
import type { Say } from '../package.ts'
import type { DataDir } from './datadir.ts'
import type { Settings } from './settings.ts'
import { createAccessReview } from './virtualcluster/accessreview.ts'
import type { DemoCluster } from './virtualcluster/demotypes.ts'
import { createTokenVerifier } from './virtualcluster/tokenverifier.ts'
import { startVirtualCluster } from './virtualcluster/virtualcluster.ts'

const STATE = 'virtualcluster.json'

/** Throws a StartupError. */
export async function startDemoCluster(
  { kubebuilderAssets: assets }: Pick<Settings, 'kubebuilderAssets'>,
  dataDir: DataDir,
  now: () => number,
  say: Say,
): Promise<DemoCluster> {
  const options = { ...dataDir.stateFile(STATE), now, say }
  if (assets !== undefined) {
    const { prepareKubeApiserver } = await import('./kubeapiserver/kubeapiserver.ts')
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
