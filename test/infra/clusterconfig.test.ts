import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { describe, expect, test } from 'vitest'
import { clusterSentence, printAccounts, printFiles, readArguments } from '../../infra/clusterconfig.ts'
import { type ClusterFilesOptions, clusterFiles } from '../../infra/clusterfiles.ts'
import { clusterAudiences, virtualClusterAudience } from '../../lib/clusters/token/audience.ts'
import { dumpYaml } from '../../lib/engine/meta/encoding/yaml.ts'
import { clusters, cluster as connected } from '../support/objects.ts'
import { useServer } from '../support/sharedserver.ts'
import { parseYaml } from '../support/yaml.ts'

const issuer = 'https://api.example.com/kubernetes/management'
const cluster: ClusterFilesOptions = {
  issuer,
  api: issuer,
  identity: { type: 'cluster', name: 'eu' },
  directory: '/etc/kubernetes/keyplane',
  whenAway: 'refuse',
}
const virtual: ClusterFilesOptions = {
  ...cluster,
  identity: { type: 'virtualCluster', namespace: 'p-shop', name: 'dev', uid: 'u-1' },
}

// biome-ignore lint/suspicious/noExplicitAny: free-form files
const fileOf = (options: ClusterFilesOptions, name: string): any =>
  clusterFiles(options).find((file) => file.name === name)?.content

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

describe('the object of the cluster', () => {
  const server = useServer()
  const said = (name: string, env: NodeJS.ProcessEnv) => {
    const { base, certificateAuthority } = server
    return clusterSentence({ ...cluster, api: base, identity: { type: 'cluster', name }, certificateAuthority }, env)
  }

  test('is read with an access key of the environment, and says where the cluster is', async () => {
    await server.make(clusters, connected('eu', { displayName: 'Europe\n' }))
    expect(await said('eu', {})).toBeUndefined()
    expect(await said('eu', { KEYPLANE_KEY: server.adminKey })).toBe(
      'Cluster eu ("Europe\\n") is at https://eu.example.com.',
    )
    const folder = await mkdtemp(join(tmpdir(), 'clusterconfig-'))
    const KEYPLANE_KEY_FILE = join(folder, 'key')
    await writeFile(KEYPLANE_KEY_FILE, `${server.adminKey}\n`)
    expect(await said('eu', { KEYPLANE_KEY_FILE })).toContain('is at https://eu.example.com.')
    await rm(folder, { recursive: true })
  })

  test('may be missing, or closed to the key, which changes nothing else', async () => {
    expect(await said('ue', { KEYPLANE_KEY: server.adminKey })).toMatch(/was not read: 404 .*"ue" not found/)
    expect(await said('eu', { KEYPLANE_KEY: 'mpk_x' })).toMatch(/was not read: 401 /)
    const bad = await said('eu', { KEYPLANE_KEY: 'secret key' })
    expect(bad).toContain('characters that no key has')
    expect(bad).not.toContain('secret')
    const dead = { ...cluster, api: 'https://127.0.0.1:1' }
    expect(await clusterSentence(dead, { KEYPLANE_KEY: 'mpk_x' })).toContain('was not read: connect ECONNREFUSED')
    expect(await clusterSentence(virtual, { KEYPLANE_KEY: 'mpk_x' })).toBeUndefined()
  })
})

describe('the command line', () => {
  const base = ['--issuer', issuer]

  test('accepts clusters and virtual clusters', async () => {
    expect(await readArguments([...base, '--cluster', 'eu'])).toEqual(cluster)
    expect(await readArguments([...base, '--virtual-cluster', 'p-shop/dev', '--uid', 'u-1'])).toEqual(virtual)
    const more = ['--cluster', 'eu', '--api', 'https://a.example.com', '--directory', '/x/', '--out', 'y']
    expect(await readArguments([...base, ...more])).toEqual({
      ...cluster,
      api: 'https://a.example.com',
      directory: '/x',
      out: 'y',
    })
  })

  test.each<[string, string[]]>([
    ['--issuer is missing', ['--cluster', 'eu']],
    ['the issuer must be an https URL', ['--issuer', 'http://a', '--cluster', 'eu']],
    ['exactly one of --cluster and --virtual-cluster is required', base],
    [
      'exactly one of --cluster and --virtual-cluster is required',
      [...base, '--cluster', 'a', '--virtual-cluster', 'a/b', '--uid', 'u'],
    ],
    ['--cluster is not the name of a cluster', [...base, '--cluster', '*']],
    ['--cluster is not the name of a cluster', [...base, '--cluster', "a'"]],
    ['--virtual-cluster is not NAMESPACE/NAME', [...base, '--virtual-cluster', 'dev', '--uid', 'u']],
    ['--virtual-cluster is not NAMESPACE/NAME', [...base, '--virtual-cluster', 'a/b/c', '--uid', 'u']],
    ['--uid is required', [...base, '--virtual-cluster', 'a/b']],
    ['--uid is required', [...base, '--virtual-cluster', 'a/b', '--uid', "u'"]],
    ['--when-away is one of refuse, rbac', [...base, '--cluster', 'eu', '--when-away', 'allow']],
    ['Unknown option', [...base, '--nonsense']],
  ])('refuses: %s', (message, args) => expect(readArguments(args)).rejects.toThrow(message))

  test('prints every file with its path, and the flags', async () => {
    const text = await printFiles(cluster)
    for (const { name } of clusterFiles(cluster)) expect(text).toContain(`# /etc/kubernetes/keyplane/${name}\n`)
    expect(text).toContain('#   --authentication-config=/etc/kubernetes/keyplane/authentication.yaml\n')
    expect(text).toContain('#   --authentication-token-webhook-cache-ttl=30s\n')
  })

  // threat: people-6
  test('writes the files with --out, and not through a symbolic link', async () => {
    const out = await mkdtemp(join(tmpdir(), 'clusterconfig-'))
    const ca = join(out, 'ca.pem')
    await writeFile(ca, 'PEM')
    const args = ['infra/clusterconfig.ts', ...base, '--cluster', 'eu', '--ca', ca, '--out', join(out, 'files')]
    const run = () =>
      new Promise((resolve, reject) => {
        execFile(process.execPath, args, (error, stdout) => (error ? reject(error) : resolve(stdout)))
      })
    const flags = await run()
    expect(flags).toContain('--authorization-config=')
    expect((await readdir(join(out, 'files'))).sort()).toEqual(
      clusterFiles(cluster)
        .map(({ name }) => name)
        .sort(),
    )
    expect(await readFile(join(out, 'files', 'authentication.yaml'), 'utf8')).toContain('certificateAuthority: PEM')
    await rm(join(out, 'files', 'authentication.yaml'))
    await symlink(ca, join(out, 'files', 'authentication.yaml'))
    await expect(run()).rejects.toThrow('ELOOP')
    expect(await readFile(ca, 'utf8')).toBe('PEM')
    await rm(out, { recursive: true })
  })
})

describe('the objects for service accounts', () => {
  test('give the account of keyplane two rights in the namespace of the accounts, in which it is not itself', async () => {
    const documents = (await printAccounts('tokens')).split('---\n').slice(1)
    const objects = await Promise.all(documents.map((text) => parseYaml(text)))
    expect(objects.map(({ kind, metadata: { namespace = '', name } }) => `${kind} ${namespace}/${name}`)).toEqual([
      'Namespace /tokens',
      'Namespace /tokens-system',
      'ServiceAccount tokens-system/keyplane',
      'Secret tokens-system/keyplane',
      'Role tokens/keyplane',
      'RoleBinding tokens/keyplane',
    ])
    expect(objects[4].rules).toEqual([
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete'] },
    ])
    expect(objects[5].subjects).toEqual([{ kind: 'ServiceAccount', name: 'keyplane', namespace: 'tokens-system' }])
    await expect(printAccounts('a.b')).rejects.toThrow('--namespace')
  })
})
