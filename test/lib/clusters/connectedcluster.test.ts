import { expect, test } from 'vitest'
import { connectedCluster } from '../../../lib/clusters/connectedcluster.ts'
import { localSigner } from './token/localsigner.ts'

const user = { name: 'alice', groups: [], key: { name: 'ci', uid: 'u', type: 'User' }, chain: [] }
const settings = { issuer: 'https://a.example', maxSeconds: 3600, projectNamespacePrefix: 'p-', uuid: () => 'id' }
const cluster = {
  apiVersion: 'management.platform/v1',
  kind: 'Cluster',
  metadata: { name: 'eu' },
  spec: { server: 'https://eu.example' },
}

test.each([
  ['ES256', []],
  ['RS256', [expect.stringContaining('enforces no scopes')]],
] as const)(
  'the kube config of a cluster warns of what reads no scopes, signed with %s',
  async (algorithm, warnings) => {
    for (const dryRun of [true, false]) {
      const request = { cluster, spec: { ttl: 600 }, user, now: new Date(), deadline: () => 1000 }
      const { issue } = connectedCluster(request, { settings, signer: await localSigner(algorithm) })
      expect((await issue({ dryRun })).warnings).toEqual(warnings)
    }
  },
)
