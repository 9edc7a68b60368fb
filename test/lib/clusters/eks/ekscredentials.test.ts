/** Tests how clusters of EKS are reached: against a local STS that checks every signature. */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Credentials } from '../../../../lib/clusters/cluster/credentials.ts'
import type { ClusterError } from '../../../../lib/clusters/cluster/failure.ts'
import { createEks, type Eks } from '../../../../lib/clusters/eks/ekscredentials.ts'
import { eksReference, isEksServer, parseEksReference } from '../../../../lib/clusters/eks/reference.ts'
import { type LocalAws, REGION, ROLE, startAwsForTest } from '../../../support/localaws.ts'

const cluster = {
  name: 'prod',
  server: 'https://0123.gr7.us-east-1.eks.amazonaws.com',
  certificateAuthority: '-----BEGIN CERTIFICATE-----',
}

let local: LocalAws
let eks: Eks
beforeEach(async () => {
  local = await startAwsForTest()
  eks = createEks(ROLE, local.sts)
})

const failed = (promise: Promise<unknown>): Promise<ClusterError> =>
  promise.then(
    () => expect.unreachable(),
    (error) => error,
  )

const urlIn = ({ token = '' }: Credentials) => new URL(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

test('the address is the given one, and STS of the region of the deployment knows the token as the role', async () => {
  const { token = '', ...address } = await eks.credentials('eu', cluster)
  expect(address).toEqual({ server: cluster.server, certificateAuthority: cluster.certificateAuthority })
  expect(token).toMatch(/^k8s-aws-v1\.[\w-]+$/)
  const { host, pathname, searchParams } = urlIn({ server: '', token })
  expect([host, pathname]).toEqual([`sts.${REGION}.amazonaws.com`, '/'])
  expect(searchParams.get('X-Amz-Expires')).toBe('60')
  expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host;x-k8s-aws-id')
  // The limit of aws-iam-authenticator.
  expect(token.length).toBeLessThan(4096)
})

describe('what is kept', () => {
  test('lets a thousand requests at once ask AWS once, and sign one token a minute', async () => {
    const all = await Promise.all(Array.from({ length: 1000 }, () => eks.credentials('eu', cluster)))
    // A cluster asks AWS about each token that it does not know.
    expect(new Set(all.map(({ token }) => token)).size).toBe(1)
    local.ahead = 61_000
    expect((await eks.credentials('eu', cluster)).token).not.toBe(all[0]?.token)
    expect(local.calls).toEqual(['AssumeRole'])
    local.ahead = 41 * 60_000
    await eks.credentials('eu', cluster)
    expect(local.calls).toEqual(['AssumeRole', 'AssumeRole'])
  })

  test('is fetched again when the cluster rejects the token', async () => {
    const first = await eks.credentials('eu', cluster)
    local.ahead = 1000
    expect((await eks.credentials('eu', cluster, true)).token).not.toBe(first.token)
    expect(local.calls).toEqual(['AssumeRole', 'AssumeRole'])
  })

  test('is used while STS is away, for 54 minutes', async () => {
    await eks.credentials('eu', cluster)
    local.fails.set('AssumeRole', 500)
    local.ahead = 54 * 60_000
    expect((await eks.credentials('eu', cluster, true)).server).toBe(cluster.server)
    local.ahead = 56 * 60_000
    expect((await failed(eks.credentials('eu', cluster))).status.code).toBe(503)
  })

  test('is no failure', async () => {
    local.mayAssume = false
    await failed(eks.credentials('eu', cluster))
    local.mayAssume = true
    await eks.credentials('eu', cluster)
  })

  // Whoever is at one address could use at another what it is sent.
  // threat: exchange-40
  test.each([
    { server: 'https://4567.gr7.us-east-1.eks.amazonaws.com' },
    { certificateAuthority: '-----BEGIN CERTIFICATE-----\n' },
    { name: 'staging' },
  ])('is sent to no cluster with another %j', async (other) => {
    const first = await eks.credentials('eu', cluster)
    local.ahead = 1000
    const second = await eks.credentials('eu', { ...cluster, ...other })
    expect(second.token).not.toBe(first.token)
    expect(await eks.credentials('eu', cluster)).toEqual(first)
    expect(local.calls).toEqual(['AssumeRole'])
  })

  test('is of 2000 clusters', async () => {
    const tokenOf = async (name: string) => (await eks.credentials('eu', { ...cluster, name })).token
    const first = await tokenOf('n0')
    local.ahead = 1000
    for (let index = 1; index < 2000; index++) await tokenOf(`n${index}`)
    expect(await tokenOf('n0')).toBe(first)
    await tokenOf('n2000')
    expect(await tokenOf('n0')).not.toBe(first)
  })
})

const NO_ROLE = 'cluster "eu" cannot be reached: AWS does not give this deployment the role for it'

test.each([
  {
    when: 'the server has no role',
    prepare: () => {
      eks = createEks(undefined, local.sts)
    },
    says: `${NO_ROLE}: it has none`,
  },
  {
    when: 'the role is refused',
    prepare: () => {
      local.mayAssume = false
    },
    says: NO_ROLE,
  },
  { when: 'STS fails', prepare: () => local.fails.set('AssumeRole', 500), says: NO_ROLE },
])('says what is wrong when $when, and nothing of what AWS said', async ({ prepare, says }) => {
  prepare()
  const error = await failed(eks.credentials('eu', cluster))
  expect(error.status).toMatchObject({ code: 503, message: says })
  expect(JSON.stringify([error.status, String(error.cause)])).not.toContain('hunter2')
})

test.each([
  ['eks:eu-central-1/prod', { region: 'eu-central-1', name: 'prod' }],
  ['prod', undefined],
  ['eks:eu-central-1/../x', undefined],
  ['eks:eu-central-1/prod/x', undefined],
  ['eks:evil.example/prod', undefined],
])('the reference %s names %j', (reference, named) => {
  expect(parseEksReference(reference)).toEqual(named)
  if (named) expect(eksReference(named)).toBe(reference)
})

test.each([
  ['https://0123.gr7.eu-central-1.eks.amazonaws.com', REGION, true],
  ['https://0123.GR7.EU-CENTRAL-1.EKS.amazonaws.com:443', REGION, true],
  ['https://0123.gr7.eks-cluster.eu-central-1.api.aws', REGION, true],
  ['https://0123.yl4.cn-north-1.eks.amazonaws.com.cn', 'cn-north-1', true],
  ['https://0123.yl4.eusc-de-east-1.eks.amazonaws.eu', 'eusc-de-east-1', true],
  ['https://0123.gr7.us-east-1.eks.amazonaws.com', REGION, false],
  ['https://0123.yl4.cn-north-1.eks.amazonaws.com', 'cn-north-1', false],
  ['https://eu-central-1.eks.amazonaws.com', REGION, false],
  ['https://x-eu-central-1.eks.amazonaws.com', REGION, false],
  ['https://0123.gr7.eu-central-1.eks.amazonaws.com.evil.example', REGION, false],
  ['https://evil.example/.eu-central-1.eks.amazonaws.com', REGION, false],
  ['https://evil.example#.eu-central-1.eks.amazonaws.com', REGION, false],
  // Others have names there: gateways, functions.
  ['https://abcd.execute-api.eu-central-1.amazonaws.com', REGION, false],
  ['https://abcd.execute-api.eu-central-1.api.aws', REGION, false],
  ['', REGION, false],
])('%s is an address of EKS in %s: %j', (server, region, expected) => {
  expect(isEksServer(server, region)).toBe(expected)
})
