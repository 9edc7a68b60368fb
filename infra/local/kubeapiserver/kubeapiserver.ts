/**
 * Runs a real kube-apiserver, from the folder KUBEBUILDER_ASSETS, as the demo virtual cluster. It accepts the same credentials
 * as the built-in demo, and keyplane's tokens through the same files as any other cluster (docs/clusters.md).
 */
import { join } from 'node:path'
import { asSentence } from '../../../clients/core/src/answers.ts'
import { makeFolder } from '../../../clients/core/src/files/privatefiles.ts'
import { formatPlace } from '../../../lib/access/scopes/place.ts'
import { ACCESS_KEY, clusterFiles, clusterFlags } from '../../../lib/clusters/connect/clusterfiles.ts'
import { reservePort } from '../host/freeport.ts'
import { StartupError } from '../host/startuperror.ts'
import { writeDurably } from '../host/stored.ts'
import type { ApiClient } from '../virtualcluster/apiclient.ts'
import { ROLES } from '../virtualcluster/clusteraccess.ts'
import { type ClusterStateOptions, openClusterState } from '../virtualcluster/clusterstate.ts'
import type { DemoCluster, TrustedIssuer } from '../virtualcluster/demotypes.ts'
import { startControlPlane } from './controlplane.ts'
import { demoRoles, USER_PREFIX } from './kubeapiserverroles.ts'

export interface KubeApiserverOptions extends ClusterStateOptions {
  /** Folder with the three binaries. */
  assets: string
  /** Folder for their files, including etcd's data. */
  folder: string
}

/**
 * Chooses address and credentials, and starts the processes in `trust`, when the issuer is known: kube-apiserver reads its
 * authentication files at startup and some of them only after a minute again. Throws a StartupError.
 */
export async function prepareKubeApiserver({ assets, folder, ...options }: KubeApiserverOptions): Promise<DemoCluster> {
  const { authority, tokens, ...state } = await openClusterState(options)
  const { now } = options
  const { port, release } = await reservePort(state.port).catch(() => reservePort())
  await state.keepPort(port)
  const running = new AsyncDisposableStack()
  running.defer(release)
  return {
    url: `https://127.0.0.1:${port}`,
    certificateAuthority: authority.certificate,
    managerToken: tokens.manager,
    async trust(issuer) {
      await writeTrust(folder, issuer)
      const users = ROLES.map((role) => ({ token: tokens[role], name: `${USER_PREFIX}${role}`, uid: role }))
      const flags = clusterFlags({ directory: folder })
      release()
      const plane = await startControlPlane({ assets, folder, port, authority, users, flags, now })
      running.defer(() => plane.close())
      await makeRoles(plane.admin, plane.url)
    },
    close: () => running.disposeAsync(),
  }
}

/** Writes the files that docs/clusters.md requires. */
async function writeTrust(folder: string, { issuer, authority, accessKey, identity }: TrustedIssuer): Promise<void> {
  const place = formatPlace(identity)
  const files = clusterFiles({ issuer, api: issuer, place, directory: folder, certificateAuthority: authority })
  await makeFolder(folder)
  await writeDurably(join(folder, ACCESS_KEY), accessKey)
  for (const { name, content } of files) await writeDurably(join(folder, name), JSON.stringify(content))
}

/** Creates the roles that do not exist. */
async function makeRoles(client: ApiClient, url: string): Promise<void> {
  for (const { resource, object } of demoRoles()) {
    const path = `${url}/apis/rbac.authorization.k8s.io/v1/${resource}`
    const { status, body } = await client.send('POST', path, object)
    if (status !== 201 && status !== 409)
      throw new StartupError(
        asSentence(`The kube-apiserver refuses a role: ${(body as { message?: string } | undefined)?.message}`),
      )
  }
}
