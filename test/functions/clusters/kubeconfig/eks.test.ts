/** Tests kube configs of clusters of Amazon EKS, from the request to the end of the key, without a stored credential. */
import dns from 'node:dns'
import { setTimeout as delay } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { UserInfo } from '../../../../lib/access/users/user.ts'
import { type AccountCluster, startAccountCluster } from '../../../support/accountcluster.ts'
import { type Functions, startFunctions } from '../../../support/functions.ts'
import { type LocalAws, REGION, ROLE, startLocalAws } from '../../../support/localaws.ts'
import { admin } from '../../../support/users.ts'
import { parseYaml } from '../../../support/yaml.ts'

const json = { accept: 'application/json', 'content-type': 'application/json' }
const patch = { ...json, 'content-type': 'application/merge-patch+json' }
const DOMAIN = `gr7.${REGION}.eks.amazonaws.com`
const trusted = tls.getCACertificates()
const { lookup } = dns
let local: LocalAws
let functions: Functions
/** The cluster of the object, and one of the same name elsewhere. */
let cluster: AccountCluster
let other: AccountCluster
let count = 0

const create = (name: string, kind: string, object: object) =>
  functions.invoke(`${name}/create`, {
    user: admin,
    headers: json,
    body: { apiVersion: 'management.platform/v1', kind, ...object },
    query: {},
  })

const change = (kind: string, name: string, spec: object) =>
  functions.invoke(`${kind}/patch`, { user: admin, parameters: { name }, headers: patch, body: { spec }, query: {} })

const addressOf = ({ url, credentials }: AccountCluster) => ({
  server: url,
  certificateAuthorityData: Buffer.from(credentials.certificateAuthority).toString('base64'),
})

beforeAll(async () => {
  local = await startLocalAws()
  // As those of AWS are.
  tls.setDefaultCACertificates([...trusted, local.certificateAuthority])
  // The names of EKS lead to this machine.
  dns.lookup = ((host: string, ...more: [never, never]) =>
    lookup(host.endsWith(DOMAIN) ? '127.0.0.1' : host, ...more)) as typeof lookup
  const { accessKeyId, secretAccessKey, sessionToken = '' } = local.sts.credentials()
  functions = await startFunctions({
    CLUSTERS_ROLE_ARN: ROLE,
    AWS_ENDPOINT_URL_STS: local.sts.endpoint,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  })
})
beforeEach(async () => {
  cluster = await startAccountCluster(`a.${DOMAIN}`)
  other = await startAccountCluster(`b.${DOMAIN}`)
  for (const one of [cluster, other]) one.knows = (token) => token.startsWith('k8s-aws-v1.')
})
afterAll(async () => {
  tls.setDefaultCACertificates(trusted)
  dns.lookup = lookup
  await functions?.stop()
  await local?.stop()
})

/** Registers the cluster, makes a key of alice, and returns what the key gets. */
async function begin() {
  const name = `c${++count}`
  const made = await create('ownedaccesskeys', 'OwnedAccessKey', { metadata: { name }, spec: { user: 'alice' } })
  const authenticated = await functions.parts.authenticate(String(made.json.spec.key))
  if (!('user' in authenticated)) throw new Error('the key gives no access')
  const user: UserInfo = { ...authenticated.user, credential: authenticated.credential }
  const registered = await create('clusters', 'Cluster', {
    metadata: { name },
    spec: {
      ...addressOf(cluster),
      tokens: 'ServiceAccounts',
      credentials: { eks: { clusterName: 'prod', region: REGION } },
      access: [{ verbs: ['use'], users: ['alice'] }],
    },
  })
  expect([registered.status, registered.text]).toEqual([201, expect.any(String)])
  const fetch = async (): Promise<string> => {
    const answer = await functions.invoke('clusters/kubeconfig/create', {
      user,
      parameters: { name },
      headers: json,
      body: { apiVersion: 'management.platform/v1', kind: 'ClusterKubeConfig', metadata: {}, spec: { ttl: 600 } },
    })
    expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
    return (await parseYaml(answer.json.status.kubeConfig)).users[0].user.token
  }
  return { name, fetch, token: await fetch() }
}

async function endings(): Promise<void> {
  await functions.run('lifecycle')
  await functions.run('boundsecrets')
}

test('has a token of the account, which ends with the key', async () => {
  const { name, token } = await begin()
  expect(cluster.accepts(token)).toBe(true)
  expect(local.calls).toEqual(['AssumeRole'])
  await change('ownedaccesskeys', name, { disabled: true })
  await endings()
  expect([cluster.secrets.size, cluster.accepts(token)]).toEqual([0, false])
})

// threat: exchange-40
describe('a cluster of the same name at another address', () => {
  const calls = ({ calls }: AccountCluster) => calls.map((call) => call.split(' ')[0])

  test.each([
    { when: 'the object names it', act: (name: string) => change('clusters', name, addressOf(other)) },
    {
      when: 'somebody has put it in the place of the first, with another authority',
      act: (name: string) =>
        change('clusters', name, { certificateAuthorityData: addressOf(other).certificateAuthorityData }),
    },
    {
      when: 'the object names it, and is deleted',
      async act(name: string) {
        await change('clusters', name, addressOf(other))
        return functions.invoke('clusters/delete', { user: admin, parameters: { name }, headers: json, query: {} })
      },
    },
  ])('gets nothing of the first when $when, whose tokens end where they were made', async ({ act }) => {
    const { name, token } = await begin()
    expect((await act(name)).status).toBe(200)
    await endings()
    expect([cluster.secrets.size, cluster.accepts(token)]).toEqual([0, false])
    expect([calls(cluster), calls(other)]).toEqual([['POST', 'POST', 'DELETE'], []])
  })

  test('makes tokens of its own, in Secrets that no other address is asked to remove', async () => {
    const { name, fetch } = await begin()
    await change('clusters', name, addressOf(other))
    // A Secret of the second in which the cluster has changed is dead.
    await delay(1100)
    const token = await fetch()
    expect(other.accepts(token)).toBe(true)
    await endings()
    expect([cluster.secrets.size, other.secrets.size]).toEqual([0, 1])
    await change('ownedaccesskeys', name, { disabled: true })
    await endings()
    expect([other.secrets.size, other.accepts(token)]).toEqual([0, false])
    expect(calls(cluster)).toEqual(['POST', 'POST', 'DELETE'])
  })
})
