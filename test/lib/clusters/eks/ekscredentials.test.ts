/** Tests how clusters of EKS are reached: against a local STS and EKS that check every signature. */
import { beforeEach, describe, expect, test } from 'vitest'
import { makeAuthority, validFor } from '../../../../infra/local/host/certificates.ts'
import type { Credentials } from '../../../../lib/clusters/cluster/credentials.ts'
import type { ClusterError } from '../../../../lib/clusters/cluster/failure.ts'
import { createEks, type Eks } from '../../../../lib/clusters/eks/ekscredentials.ts'
import { eksReference, parseEksReference } from '../../../../lib/clusters/eks/reference.ts'
import { OutboundError } from '../../../../lib/engine/outbound/failure.ts'
import { type LocalAws, REGION, ROLE, startAwsForTest } from '../../../support/localaws.ts'

const { certificate } = await makeAuthority('a cluster', validFor(1, Date.now()))
const SERVER = 'https://0123.gr7.eu-central-1.eks.amazonaws.com'
const cluster = { region: REGION, name: 'prod' }
const described = {
  name: 'prod',
  endpoint: SERVER,
  certificateAuthority: { data: Buffer.from(certificate).toString('base64') },
}

let local: LocalAws
let eks: Eks
beforeEach(async () => {
  local = await startAwsForTest()
  local.clusters.set('prod', described)
  eks = createEks(ROLE, local.aws)
})

const failed = (promise: Promise<unknown>): Promise<ClusterError> =>
  promise.then(
    () => expect.unreachable(),
    (error) => error,
  )

test('the address and the authority are those of EKS, and AWS knows the token as the role', async () => {
  const { server, certificateAuthority, token = '' } = await eks.credentials('eu', cluster)
  expect([server, certificateAuthority?.trim()]).toEqual([SERVER, certificate.trim()])
  const [, prefix, url = ''] = /^(k8s-aws-v1\.)([\w-]+)$/.exec(token) ?? []
  expect(prefix).toBe('k8s-aws-v1.')
  const { searchParams, pathname } = new URL(Buffer.from(url, 'base64url').toString())
  expect(pathname).toBe('/')
  expect(searchParams.get('X-Amz-Expires')).toBe('60')
  expect(searchParams.get('X-Amz-SignedHeaders')).toBe('host;x-k8s-aws-id')
  // The limit of aws-iam-authenticator.
  expect(token.length).toBeLessThan(4096)
})

describe('what AWS answered is kept', () => {
  test('so that a thousand requests at once ask AWS twice, and sign one token a minute', async () => {
    const all = await Promise.all(Array.from({ length: 1000 }, () => eks.credentials('eu', cluster)))
    // A cluster asks AWS about each token that it does not know.
    expect(new Set(all.map(({ token }) => token)).size).toBe(1)
    local.ahead = 61_000
    expect((await eks.credentials('eu', cluster)).token).not.toBe(all[0]?.token)
    expect(local.calls.sort()).toEqual(['AssumeRole', 'DescribeCluster'])
    local.ahead = 6 * 60_000
    await eks.credentials('eu', cluster)
    expect(local.calls.filter((one) => one === 'DescribeCluster')).toHaveLength(2)
    expect(local.calls.filter((one) => one === 'AssumeRole')).toHaveLength(1)
    local.ahead = 41 * 60_000
    await eks.credentials('eu', cluster)
    expect(local.calls.filter((one) => one === 'AssumeRole')).toHaveLength(2)
  })

  test('unless the cluster rejects the token', async () => {
    await eks.credentials('eu', cluster)
    await eks.credentials('eu', cluster, true)
    expect(local.calls.sort()).toEqual(['AssumeRole', 'AssumeRole', 'DescribeCluster', 'DescribeCluster'])
  })

  test.each([
    { away: 'DescribeCluster', works: 14, fails: 16 },
    { away: 'AssumeRole', works: 54, fails: 56 },
  ])('while $away is away, for $works minutes', async ({ away, works, fails }) => {
    await eks.credentials('eu', cluster)
    local.fails.set(away, 500)
    local.ahead = works * 60_000
    expect((await eks.credentials('eu', cluster)).server).toBe(SERVER)
    local.ahead = fails * 60_000
    expect((await failed(eks.credentials('eu', cluster))).status.code).toBe(503)
  })

  test('but no failure', async () => {
    local.mayAssume = false
    await failed(eks.credentials('eu', cluster))
    local.mayAssume = true
    await eks.credentials('eu', cluster)
  })
})

describe('what is kept belongs to the cluster of EKS', () => {
  /** The regions that were asked for a cluster. */
  let regions: string[]
  const endpoint = (service: 'sts' | 'eks', region: string) => {
    if (service === 'eks') regions.push(region)
    if (region === 'nowhere') throw new OutboundError('unroutable')
    return local.aws.endpoint(service, region)
  }
  const urlIn = ({ token = '' }: Credentials) => new URL(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const regionIn = (credentials: Credentials) => urlIn(credentials).hostname.split('.')[1]
  beforeEach(() => {
    regions = []
    eks = createEks(ROLE, { ...local.aws, endpoint })
  })

  test('so that an object that names another one is not reached with the address and the token of the first', async () => {
    const other = 'https://4567.gr7.eu-central-1.eks.amazonaws.com'
    local.clusters.set('staging', { ...described, name: 'staging', endpoint: other })
    const first = await eks.credentials('eu', cluster)
    const second = await eks.credentials('eu', { ...cluster, name: 'staging' })
    expect([first.server, second.server]).toEqual([SERVER, other])
    expect(second.token).not.toBe(first.token)
    expect(await eks.credentials('eu', cluster)).toEqual(first)
  })

  test('which has its name in one region only', async () => {
    const found = [cluster, { ...cluster, region: 'us-east-1' }, cluster]
    const credentials = await Promise.all(found.map((one) => eks.credentials('eu', one)))
    expect(credentials.map(regionIn)).toEqual([REGION, 'us-east-1', REGION])
    expect(regions).toEqual([REGION, 'us-east-1'])
  })

  test('and to the object, whose name is in messages', async () => {
    local.clusters.clear()
    for (const label of ['eu', 'us'])
      expect((await failed(eks.credentials(label, cluster))).status.message).toContain(`cluster "${label}"`)
  })

  test('of which 2000 are remembered', async () => {
    await eks.credentials('eu', cluster)
    const away = { region: 'nowhere', name: 'away' }
    const fill = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, index) => failed(eks.credentials(`n${from + index}`, away))))
    await fill(1, 2000)
    await eks.credentials('eu', cluster)
    expect(regions.filter((one) => one === REGION)).toEqual([REGION])
    await fill(2000, 2001)
    await eks.credentials('eu', cluster)
    expect(regions.filter((one) => one === REGION)).toEqual([REGION, REGION])
  })
})

test.each([
  {
    when: 'no setting lists clusters',
    prepare: () => {
      eks = createEks(undefined, local.aws)
    },
    code: 503,
    says: 'cluster "eu" has unusable credentials: the setting eks-cluster-arns names no cluster',
  },
  {
    when: 'the setting does not list the cluster',
    prepare: () => {
      local.mayDescribe = () => false
    },
    code: 503,
    says: 'the deployment may not describe cluster prod in eu-central-1: the setting eks-cluster-arns must list its ARN',
  },
  {
    when: 'there is no such cluster',
    prepare: () => local.clusters.clear(),
    code: 503,
    says: 'Amazon EKS has no cluster prod in eu-central-1',
  },
  {
    when: 'the cluster is being created',
    prepare: () => local.clusters.set('prod', { name: 'prod', status: 'CREATING' }),
    code: 503,
    says: 'cluster prod in eu-central-1 has no address yet',
  },
  {
    when: 'the address is none',
    prepare: () => local.clusters.set('prod', { ...described, endpoint: 'http://10.0.0.1' }),
    code: 503,
    says: 'has no address yet',
  },
  {
    when: 'EKS has too much to do',
    prepare: () => local.fails.set('DescribeCluster', 503),
    code: 503,
    says: 'Amazon EKS does not say at the moment where it is',
  },
  {
    when: 'the role is refused',
    prepare: () => {
      local.mayAssume = false
    },
    code: 503,
    says: 'AWS does not give this deployment the role for it',
  },
  {
    when: 'STS fails',
    prepare: () => local.fails.set('AssumeRole', 500),
    code: 503,
    says: 'AWS does not give this deployment the role for it',
  },
])('says what is wrong when $when, and nothing of what AWS said', async ({ prepare, code, says }) => {
  prepare()
  const error = await failed(eks.credentials('eu', cluster))
  expect(error.status).toMatchObject({ code, message: expect.stringContaining(says) })
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
