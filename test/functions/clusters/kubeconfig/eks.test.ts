/** Tests kube configs of clusters of Amazon EKS, from the request to the end of the key, without a stored credential. */
import tls from 'node:tls'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import { type AccountCluster, startAccountCluster } from '../../../support/accountcluster.ts'
import { type Functions, startFunctions } from '../../../support/functions.ts'
import { type LocalAws, REGION, ROLE, startLocalAws } from '../../../support/localaws.ts'
import { admin } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'

const json = { accept: 'application/json', 'content-type': 'application/json' }
const trusted = tls.getCACertificates()
let local: LocalAws
let functions: Functions
let cluster: AccountCluster
let alice: UserInfo

const create = (name: string, kind: string, object: object) =>
  functions.invoke(`${name}/create`, {
    user: admin,
    headers: json,
    body: { apiVersion: 'management.platform/v1', kind, ...object },
    query: {},
  })

beforeAll(async () => {
  local = await startLocalAws()
  // As those of AWS are.
  tls.setDefaultCACertificates([...trusted, local.certificateAuthority])
  const { accessKeyId, secretAccessKey, sessionToken = '' } = local.aws.credentials()
  const endpoint = local.aws.endpoint('sts', REGION)
  functions = await startFunctions({
    CLUSTERS_ROLE_ARN: ROLE,
    AWS_ENDPOINT_URL_STS: endpoint,
    AWS_ENDPOINT_URL_EKS: endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  })
  const made = await create('ownedaccesskeys', 'OwnedAccessKey', { metadata: { name: 'a' }, spec: { user: 'alice' } })
  const authenticated = await functions.parts.authenticate(String(made.json.spec.key))
  if (!('user' in authenticated)) throw new Error('the key gives no access')
  alice = { ...authenticated.user, credential: authenticated.credential }
  await create('clusters', 'Cluster', {
    metadata: { name: 'eu' },
    spec: {
      server: 'https://eu.example.com',
      tokens: 'ServiceAccounts',
      credentials: { eks: { clusterName: 'prod', region: REGION } },
      access: [{ verbs: ['use'], users: ['alice'] }],
    },
  })
})
beforeEach(async () => {
  cluster = await startAccountCluster()
  const data = Buffer.from(cluster.credentials.certificateAuthority).toString('base64')
  local.clusters.set('prod', { name: 'prod', endpoint: cluster.url, certificateAuthority: { data } })
  cluster.knows = (token) => token.startsWith('k8s-aws-v1.')
})
afterAll(async () => {
  tls.setDefaultCACertificates(trusted)
  await functions?.stop()
  await local?.stop()
})

test('has a token of the account, which ends with the key', async () => {
  const answer = await functions.invoke('clusters/kubeconfig/create', {
    user: alice,
    parameters: { name: 'eu' },
    headers: json,
    body: { apiVersion: 'management.platform/v1', kind: 'ClusterKubeConfig', metadata: {}, spec: { ttl: 600 } },
  })
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  const { token } = (await parseYaml(answer.json.status.kubeConfig)).users[0].user
  expect(cluster.accepts(token)).toBe(true)
  expect(local.calls.sort()).toEqual(['AssumeRole', 'DescribeCluster'])

  const headers = { ...json, 'content-type': 'application/merge-patch+json' }
  const body = { spec: { disabled: true } }
  await functions.invoke('ownedaccesskeys/patch', { user: admin, parameters: { name: 'a' }, headers, body, query: {} })
  await functions.run('lifecycle')
  await functions.run('boundsecrets')
  expect([cluster.secrets.size, cluster.accepts(token)]).toEqual([0, false])
})
