/** Starts the demo virtual cluster as the instance p-demo/demo of a test server, and as its connected cluster `west`. */
import { kubeConfigFile } from '../../infra/local/host/kubeconfigfile.ts'
import { createAccessReview } from '../../infra/local/virtualcluster/accessreview.ts'
import type { VerifyToken } from '../../infra/local/virtualcluster/clusteraccess.ts'
import { createTokenVerifier } from '../../infra/local/virtualcluster/tokenverifier.ts'
import { startVirtualCluster, type VirtualCluster } from '../../infra/local/virtualcluster/virtualcluster.ts'
import { virtualClusterAudience } from '../../lib/clusters/token/audience.ts'
import { instance, instances } from './objects.ts'
import type { TestServer } from './server.ts'

export interface DemoCluster extends VirtualCluster {
  /** The uid of the instance. */
  uid: string
  /** Answers 401 to the tokens that it has accepted so far. */
  refuseSeenTokens(): void
}

/** Starts it, with the credentials of its manager in Secrets Manager. Its owner is alice. */
export async function startDemoCluster(server: TestServer): Promise<DemoCluster> {
  const cluster = await startVirtualCluster({ now: Date.now })
  const { url, certificateAuthority, token } = cluster
  const kept = kubeConfigFile({ name: 'manager', server: url, certificateAuthority, token: token.manager })
  await server.keepCredentials('p-demo/demo', kept)
  const made = await server.make(
    instances('p-demo'),
    instance('demo', {
      owner: { user: 'alice' },
      accessPoint: { ingress: { enabled: true, host: new URL(url).host } },
      certificateAuthorityData: Buffer.from(certificateAuthority).toString('base64'),
    }),
  )
  const { uid } = made.metadata
  const { base: issuer, certificateAuthority: authority } = server
  const audiences = [virtualClusterAudience(issuer, 'p-demo', 'demo', uid), `${issuer}/clusters/west`]
  const verifiers = audiences.map((audience) => createTokenVerifier({ issuer, authority, audience, now: Date.now }))
  const seen = new Set<string>()
  let refused = new Set<string>()
  const verify: VerifyToken = async (presented) => {
    if (refused.has(presented)) return undefined
    const users = await Promise.all(verifiers.map((one) => one(presented)))
    seen.add(presented)
    return users.find((user) => user !== undefined)
  }
  cluster.accept(verify, createAccessReview({ api: issuer, authority, accessKey: server.adminKey }))
  return {
    ...cluster,
    uid,
    refuseSeenTokens() {
      refused = new Set(seen)
    },
  }
}
