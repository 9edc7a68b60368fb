/**
 * A real kube-apiserver as the demo virtual cluster, from the folder that KUBEBUILDER_ASSETS names. It knows the same
 * credentials as the demo, and takes our tokens by the same files as any other cluster (docs/clusters.md).
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { clusterFiles, clusterFlags } from '../../clusterfiles.ts'
import { freePort } from '../host/freeport.ts'
import { StartupError } from '../host/startuperror.ts'
import { writeDurably } from '../host/stored.ts'
import type { ApiClient } from '../virtualcluster/apiclient.ts'
import { ROLES } from '../virtualcluster/clusteraccess.ts'
import { openClusterState } from '../virtualcluster/clusterstate.ts'
import type { DemoCluster, TrustedIssuer } from '../virtualcluster/demotypes.ts'
import { startControlPlane } from './controlplane.ts'
import { demoRoles, USER_PREFIX } from './kubeapiserverroles.ts'

export interface KubeApiserverOptions {
  /** Folder with the three binaries. */
  assets: string
  /** For what they need and keep: etcd's data among it. */
  folder: string
  /** Keeps authority, port and tokens; absent = in memory. */
  path?: string
  /** Unix milliseconds. */
  now: () => number
}

/**
 * Chooses address and credentials now, and runs the processes when it is told whose tokens to take: kube-apiserver reads
 * the files about that when it starts, and some of them no sooner than a minute later again. Throws a StartupError.
 */
export async function prepareKubeApiserver({ assets, folder, path, now }: KubeApiserverOptions): Promise<DemoCluster> {
  const { authority, tokens, ...state } = await openClusterState(path, now())
  const port = await freePort(state.port).catch(() => freePort())
  await state.keepPort(port)
  const running = new AsyncDisposableStack()
  return {
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    managerToken: tokens.manager,
    async trust(issuer) {
      await writeTrust(folder, issuer)
      const users = ROLES.map((role) => ({ token: tokens[role], name: `${USER_PREFIX}${role}`, uid: role }))
      const flags = clusterFlags({ directory: folder })
      const plane = await startControlPlane({ assets, folder, port, authority, users, flags, now })
      running.defer(() => plane.close())
      await makeRoles(plane.admin, plane.url)
    },
    close: () => running.disposeAsync(),
  }
}

/** What docs/clusters.md says a cluster needs. */
async function writeTrust(folder: string, { issuer, authority, accessKey, identity }: TrustedIssuer): Promise<void> {
  const files = clusterFiles({ issuer, api: issuer, identity, directory: folder, certificateAuthority: authority })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeDurably(join(folder, 'keyplane-access-key'), accessKey)
  for (const { name, content } of files) await writeDurably(join(folder, name), JSON.stringify(content))
}

/** Roles that exist are left alone. */
async function makeRoles(client: ApiClient, url: string): Promise<void> {
  for (const { resource, object } of demoRoles()) {
    const path = `${url}/apis/rbac.authorization.k8s.io/v1/${resource}`
    const { status, body } = await client.send('POST', path, object)
    if (status !== 201 && status !== 409)
      throw new StartupError(
        `The kube-apiserver refuses a role: ${(body as { message?: string } | undefined)?.message}.`,
      )
  }
}
