import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import {
  type ClusterFilesOptions,
  clusterFileNames,
  clusterFiles,
} from '../../../../lib/clusters/connect/clusterfiles.ts'
import { clusterAudiences, virtualClusterAudience } from '../../../../lib/clusters/token/audience.ts'
import { dumpYaml } from '../../../../lib/engine/meta/encoding/yaml.ts'

const issuer = 'https://api.example.com/kubernetes/management'
const cluster: ClusterFilesOptions = {
  issuer,
  api: issuer,
  place: 'clusters/eu',
  directory: '/etc/kubernetes/keyplane',
  whenAway: 'refuse',
}
const virtual: ClusterFilesOptions = {
  ...cluster,
  place: 'virtualclusters/p-shop/dev/u-1',
}

// biome-ignore lint/suspicious/noExplicitAny: free-form files
const fileOf = (options: ClusterFilesOptions, name: string): any =>
  clusterFiles(options).find((file) => file.name === name)?.content

test('the names are those of all files', () => {
  expect(clusterFiles(cluster).map(({ name }) => name)).toEqual(clusterFileNames)
})

describe('authentication.yaml', () => {
  // threat: tokens-1
  test('accepts only the audiences of tokens for this cluster', () => {
    const [jwt] = fileOf(cluster, 'authentication.yaml').jwt
    expect(jwt.issuer).toEqual({
      url: issuer,
      audiences: [...clusterAudiences(issuer, [{ clusters: [{ cluster: 'eu' }] }]), ...clusterAudiences(issuer, [])],
      audienceMatchPolicy: 'MatchAny',
    })
    const [own] = fileOf(virtual, 'authentication.yaml').jwt
    expect(own.issuer.audiences).toEqual([virtualClusterAudience(issuer, 'p-shop', 'dev', 'u-1')])
  })

  // threat: tokens-6
  test('refuses the reserved names of Kubernetes and maps the claims that the review needs', () => {
    const [jwt] = fileOf(virtual, 'authentication.yaml').jwt
    expect(jwt.userValidationRules.map(({ expression }: { expression: string }) => expression)).toEqual([
      "user.username != '' && !user.username.startsWith('system:')",
      "user.groups.all(group, !group.startsWith('system:'))",
    ])
    expect(jwt.claimMappings).toEqual({
      username: { claim: 'sub', prefix: '' },
      groups: { claim: 'groups', prefix: '' },
      extra: [
        { key: 'management.platform/access-key', valueExpression: "claims['management.platform'].key.name" },
        { key: 'management.platform/access-key-uid', valueExpression: "claims['management.platform'].key.uid" },
        {
          key: 'management.platform/run',
          valueExpression: "has(claims['management.platform'].key.run) ? claims['management.platform'].key.run : ''",
        },
        { key: 'management.platform/scopes', valueExpression: "claims['management.platform'].scopes" },
        { key: 'management.platform/target', valueExpression: "'virtualclusters/p-shop/dev/u-1'" },
        { key: 'management.platform/issued-at', valueExpression: 'string(int(claims.iat))' },
      ],
    })
  })

  test('trusts the given certificate authority', () => {
    const [jwt] = fileOf({ ...cluster, certificateAuthority: 'PEM' }, 'authentication.yaml').jwt
    expect(jwt.issuer.certificateAuthority).toBe('PEM')
  })
})

// threat: tokens-4
test('authorization.yaml reviews only keyplane users, denies them without a response, and caches for 30 s', () => {
  const [first, ...others] = fileOf(cluster, 'authorization.yaml').authorizers
  expect(first).toMatchObject({
    type: 'Webhook',
    webhook: {
      failurePolicy: 'Deny',
      authorizedTTL: '30s',
      unauthorizedTTL: '30s',
      matchConditions: [{ expression: "has(request.extra) && 'management.platform/access-key-uid' in request.extra" }],
      connectionInfo: { kubeConfigFile: '/etc/kubernetes/keyplane/keyplane-authorization.kubeconfig' },
    },
  })
  expect(others.map(({ type }: { type: string }) => type)).toEqual(['Node', 'RBAC'])
})

test('authorization.yaml for --when-away rbac leaves those to RBAC whom no scope restricts, and denies all others', () => {
  const { authorizers } = fileOf({ ...cluster, whenAway: 'rbac' }, 'authorization.yaml')
  const ours = { expression: "has(request.extra) && 'management.platform/access-key-uid' in request.extra" }
  const unrestricted =
    "'management.platform/scopes' in request.extra && request.extra['management.platform/scopes'] == ['[]']"
  expect(authorizers.slice(0, 2)).toMatchObject([
    {
      name: 'keyplane',
      webhook: { failurePolicy: 'Deny', matchConditions: [ours, { expression: `!(${unrestricted})` }] },
    },
    {
      name: 'keyplane-unrestricted',
      webhook: { failurePolicy: 'NoOpinion', matchConditions: [ours, { expression: unrestricted }] },
    },
  ])
  expect(authorizers.slice(2).map(({ type }: { type: string }) => type)).toEqual(['Node', 'RBAC'])
})

test.each([
  ['keyplane-authorization.kubeconfig', 'authorization.k8s.io/v1/subjectaccessreviews'],
  ['keyplane-authentication.kubeconfig', 'authentication.k8s.io/v1/tokenreviews'],
])('%s points to the review, and to a key file in the same folder', async (name, path) => {
  const config = new KubeConfig()
  const options = { ...cluster, api: 'https://other.example.com', certificateAuthority: 'PEM' }
  config.loadFromString(await dumpYaml(fileOf(options, name)))
  expect(config.getCurrentCluster()).toMatchObject({ server: `https://other.example.com/apis/${path}`, caData: 'UEVN' })
  expect(fileOf(cluster, name).users[0].user).toEqual({ tokenFile: '/etc/kubernetes/keyplane/keyplane-access-key' })
})
