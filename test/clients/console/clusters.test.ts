/** Kube configs of virtual and connected clusters: which are shown, what is asked of the server, file names, and commands that a shell runs. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../../clients/console/src/api/client.ts'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import { type ClusterKind, CONNECTED, VIRTUAL } from '../../../clients/console/src/pages/clusters/kinds.ts'
import { readClusters } from '../../../clients/console/src/pages/clusters/readclusters.ts'
import {
  connectCommand,
  curlFileCommand,
  dailyCommands,
  fileNameOf,
  isTeam,
  pathProblem,
  registerCommands,
  specOf,
  trimmed,
} from '../../../clients/console/src/pages/clusters/ways.ts'
import {
  endpointOf,
  ownerOf,
  stateOf,
  textOf,
  tokensOf,
  usersOf,
} from '../../../clients/console/src/pages/clusters/words.ts'
import type { Cluster, Self, VirtualCluster } from '../../../clients/core/src/objects.ts'
import { projectIn } from '../../../clients/core/src/projects.ts'
import { mayAccess } from '../../../lib/access/users/instances.ts'
import { as } from '../../lib/access/users.ts'
import { feed } from '../../support/feed.ts'
import cases from './vectors/clusters.cases.json' with { type: 'json' }

const SERVER = 'https://keys.example.com/prod/kubernetes/management'
const eu = { name: 'eu' }
const place = { project: 'shop', namespace: 'p-shop', name: 'dev' }
const metadata = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' }
const cluster = (more: Partial<VirtualCluster> = {}): VirtualCluster => ({
  metadata: { ...metadata, name: 'dev', namespace: 'p-shop' },
  ...more,
})

describe('the places of a scope', () => {
  test('are its projects, the namespaces of its rules, and single virtual clusters beyond them', () => {
    const scope = {
      projects: [{ project: 'a' }, { project: '*' }],
      roles: [{ role: 'vcluster', projects: ['b'], virtualClusters: ['c/x', 'y'] }],
      virtualClusters: [
        { project: 'a', virtualCluster: 'in-a' },
        { project: 'd', virtualCluster: 'x' },
        { project: 'e', virtualCluster: '*' },
      ],
      rules: [{ namespaces: ['p-f', '*', ''] }, {}],
    }
    expect(VIRTUAL.placesOf(scope, 'p-', '')).toEqual({ namespaces: ['p-a', 'p-b', 'p-f'], single: ['p-d/x', 'p-c/x'] })
  })

  test('are none without names', () => {
    const none = { namespaces: [], single: [] }
    expect(VIRTUAL.placesOf({ projects: [{ project: '*' }] }, 'p-', '')).toEqual(none)
    expect(CONNECTED.placesOf({ clusters: [{ cluster: '*' }], projects: [{ project: 'a' }] }, 'p-', '')).toEqual(none)
    for (const { placesOf } of [VIRTUAL, CONNECTED]) expect(placesOf(undefined, 'p-', '')).toEqual(none)
  })

  test('are its connected clusters, and one that a person names', () => {
    const scope = { clusters: [{ cluster: 'eu' }, { cluster: '*' }, { cluster: 'eu' }] }
    expect(CONNECTED.placesOf(scope, 'p-', 'us')).toEqual({ namespaces: [], single: ['eu', 'us'] })
  })

  test('have the prefix of the server', () =>
    expect([projectIn('team-a', 'team-'), projectIn('team-', 'team-'), projectIn('other', 'team-')]).toEqual([
      'a',
      undefined,
      undefined,
    ]))
})

describe('reading clusters', () => {
  const self = { accessKey: 'k', uid: 'u', accessKeyScope: { projects: [{ project: 'a' }, { project: 'b' }] } }
  const asked: string[] = []
  const api = (answers: Record<string, object | number>): Api => ({
    async send(path) {
      const [, below = ''] = /v1\/([^?]*)/.exec(path) ?? []
      asked.push(below)
      const answer = answers[below] ?? 404
      if (typeof answer === 'number') throw new ApiError(answer, { message: `code ${answer}` })
      return answer as never
    },
  })
  const read = (
    answers: Record<string, object | number>,
    who: Self = self,
    further = '',
    kind: ClusterKind = VIRTUAL,
  ) => readClusters(kind, api(answers), who, further, new AbortController().signal)
  const shown = [VIRTUAL.shown(cluster(), 'p-')]
  const list = (...items: (VirtualCluster | Cluster)[]) => ({ metadata: { resourceVersion: '1' }, items })

  test('asks for all of them', async () =>
    expect(await read({ virtualclusterinstances: list(cluster()) })).toEqual({
      items: shown,
      more: false,
      refused: [],
    }))

  test('asks for those of the scope, and of one more project, if the key may not list all', async () => {
    const found = await read(
      {
        virtualclusterinstances: 403,
        'namespaces/p-a/virtualclusterinstances': list(cluster()),
        'namespaces/p-b/virtualclusterinstances': 403,
        'namespaces/p-c/virtualclusterinstances': list(),
      },
      self,
      'c',
    )
    expect(found).toEqual({
      items: shown,
      more: false,
      only: { namespaces: ['p-a', 'p-b', 'p-c'], single: [] },
      refused: [{ place: 'p-b', message: 'code 403' }],
    })
  })

  test('shows a virtual cluster of the scope once when its whole project is asked for', async () => {
    const one = { accessKeyScope: { virtualClusters: [{ project: 'c', virtualCluster: 'dev' }] } }
    const found = await read(
      { virtualclusterinstances: 403, 'namespaces/p-c/virtualclusterinstances': list(cluster()) },
      { ...self, ...one },
      'c',
    )
    expect(found).toEqual({ items: shown, more: false, only: { namespaces: ['p-c'], single: [] }, refused: [] })
  })

  test('asks for the connected clusters of the scope if the key may not list them', async () => {
    const one: Cluster = { metadata: { ...metadata, name: 'eu' }, spec: { server: 'https://eu' } }
    const who = { ...self, accessKeyScope: { clusters: [{ cluster: 'eu' }, { cluster: 'us' }] } }
    expect(await read({ clusters: list(one) }, who, '', CONNECTED)).toMatchObject({ items: [{ place: eu }] })
    expect(await read({ clusters: 403, 'clusters/eu': one, 'clusters/us': 400 }, who, 'ap', CONNECTED)).toEqual({
      items: [CONNECTED.shown(one, 'p-')],
      more: false,
      only: { namespaces: [], single: ['eu', 'us', 'ap'] },
      refused: [
        { place: 'us', message: 'code 400' },
        { place: 'ap', message: 'code 404' },
      ],
    })
  })

  test('fails when the server does, so that no half of a list looks like all', async () => {
    await expect(read({ virtualclusterinstances: 503 })).rejects.toThrow('code 503')
    const half = { virtualclusterinstances: 403, 'namespaces/p-a/virtualclusterinstances': list() }
    await expect(read({ ...half, 'namespaces/p-b/virtualclusterinstances': 503 })).rejects.toThrow('code 503')
  })
})

describe('the words about a virtual cluster', () => {
  test.each(cases.said as [object, string, string, string[]][])('say of %j: %s %s', (status, tone, text, details) =>
    expect(stateOf(cluster({ status }))).toEqual({ tone, text, details }),
  )

  test('say who owns it and where it is', () => {
    const spec = { owner: { team: 'shop' }, accessPoint: { ingress: { enabled: true, host: 'dev.example.com' } } }
    expect([ownerOf(cluster({ spec })), endpointOf(cluster({ spec }))]).toEqual(['team shop', 'dev.example.com'])
    const off = { accessPoint: { ingress: { enabled: false, host: 'dev.example.com' } } }
    expect([ownerOf(cluster()), endpointOf(cluster({ spec: off }))]).toEqual(['nobody', undefined])
  })

  test('are found by name, display name, facts and state', () => {
    const spec = {
      displayName: 'Europe',
      server: 'https://k8s.example.com',
      access: [{ verbs: ['use'], users: ['x-y'] }],
    }
    expect(textOf(CONNECTED.shown({ metadata: { ...metadata, name: 'eu' }, spec }, 'p-'))).toBe(
      `eu\nEurope\nhttps://k8s.example.com\nadministrators, user x-y\n${tokensOf(spec)}\n`,
    )
    const one = cluster({ spec: { displayName: 'Development', owner: { user: 'alice' } }, status: { phase: 'Ready' } })
    expect(textOf(VIRTUAL.shown(one, 'p-'))).toBe(
      'shop/dev\nDevelopment\nshop\nuser alice\nnone\nadministrators, user alice\nReady',
    )
  })

  test('say who issues the tokens of a connected cluster', () => {
    const eks = { clusterName: 'EU_1', region: 'eu-west-1' }
    const specs = [
      {},
      { tokens: 'ServiceAccounts' as const },
      { tokens: 'ServiceAccounts' as const, credentials: { eks } },
    ]
    expect(specs.map(tokensOf)).toEqual([
      expect.stringMatching(/^keyplane signs/),
      expect.stringMatching(/^service accounts .* issue them$/),
      expect.stringMatching(/: EU_1, eu-west-1$/),
    ])
  })
})

describe('who uses a cluster', () => {
  test('names whom the rules let create kube configs, as the server decides', () => {
    const subresources = [undefined, [], ['kubeconfig'], ['status']]
    const verbs = [undefined, [], ['use'], ['create'], ['*'], ['get', 'list', 'watch']]
    const rules = subresources.flatMap((one) => verbs.map((two) => ({ subresources: one, verbs: two })))
    const access = rules.map((rule, index) => ({
      ...Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)),
      users: [`u${index}`],
    }))
    const mayUse = ({ users: [user = ''] }: (typeof access)[number]) =>
      mayAccess(as({ user }), { access }, 'create', 'kubeconfig').allowed
    const named = access.filter((rule) => usersOf([rule]) === `administrators, user ${rule.users[0]}`)
    expect(named).toEqual(access.filter(mayUse))
    expect(named.length).toBe(5)
  })

  test('names each team and user once, and nobody without rules', () => {
    const use = (more: object) => ({ verbs: ['get', 'use'], ...more })
    const access = [use({ teams: ['shop'], users: ['alice'] }), use({ teams: ['shop'] })]
    expect(usersOf(access)).toBe('administrators, team shop, user alice')
    expect(usersOf(access, 'team shop')).toBe(usersOf(access))
    expect(usersOf([], 'user bob')).toBe('administrators, user bob')
    expect(usersOf()).toBe('administrators')
  })
})

describe('a kube config', () => {
  const choice = { seconds: 3600, file: 'C:\\Users\\alice\\dev.curl' }
  const exec = (command: string, ...args: string[]) => ({ exec: { command, args } })

  test.each([
    ['curl', exec('curl', '-q', '--proto', '=https', '--config', 'C:/Users/alice/dev.curl')],
    ['token', { certificateTTL: 3600 }],
    ['certificate', { certificateTTL: 3600, clientCert: true }],
  ] as const)('that signs in with %s is asked for', (way, spec) =>
    expect(specOf({ ...choice, way }, place)).toEqual(spec),
  )

  test.each([
    [place, 'shop-dev.kubeconfig'],
    [{ namespace: 'default', name: 'dev' }, 'default-dev.kubeconfig'],
    [eu, 'eu.kubeconfig'],
    [{ namespace: 'x', name: '../..\\a b\u202E"' }, 'x-..-..-a-b-.kubeconfig'],
    [{ namespace: '..', name: 'a' }, 'a.kubeconfig'],
    [{ namespace: 'n'.repeat(63), name: 'n'.repeat(253) }, `${`${'n'.repeat(63)}-`.padEnd(120, 'n')}.kubeconfig`],
  ])('of %j is the file %s', (one, file) => expect(fileNameOf(one)).toBe(file))

  test.each(['/home/alice/.kube/dev.curl', 'C:\\Users\\alice\\dev.curl', '/a b/c'])('accepts the path %s', (path) =>
    expect(pathProblem(path)).toBeUndefined(),
  )

  test.each(['', '~/.kube/dev.curl', 'dev.curl', '/', '/a$HOME', '/a"b', '/a\nb', '/a\u202Eb'])(
    'refuses the path %j',
    (path) => expect(pathProblem(path)).toMatch(/path/),
  )

  test.each([
    '/home/ME/.kube/dev.curl',
    'C:\\Users\\USER\\dev.curl',
    '/home/<you>/x',
    '/home/{name}/x',
    '/home/…/x',
    '/.../x',
  ])('refuses the placeholder in %s', (path) => expect(pathProblem(path)).toMatch(/placeholder/))

  test('comes with commands of the command line, if that knows the cluster', () => {
    expect(dailyCommands(place, SERVER)).toEqual({
      login: `keyplane login ${SERVER} --context keys.example.com/prod`,
      merge: 'keyplane kubeconfig shop/dev --merge',
    })
    const elsewhere = { namespace: 'default', name: 'dev' }
    expect(dailyCommands(elsewhere, SERVER)).toBeUndefined()
  })
})

describe('a kube config of a connected cluster', () => {
  const choice = { way: 'token', seconds: 3600, file: '' } as const

  test('is asked for with the lifetime of its token', () => expect(specOf(choice, eu)).toEqual({ ttl: 3600 }))
})

describe('the command that connects a cluster', () => {
  test.each([
    ['flags', '~/.kube/config', '', '~/.kube/config'],
    ['flags', 'x', 'k3s', 'x --for k3s'],
    ['eks', ' /a b ', 'k3s', "'/a b' --eks EU_1 --region eu-west-1"],
    ['accounts', '~/$x', 'k3s', "~/'$x' --tokens service-accounts"],
  ] as const)('by %s has each text as one word', (how, file, platform, rest) =>
    expect(connectCommand({ how, ...trimmed({ name: 'eu', file, platform, eks: 'EU_1', region: 'eu-west-1' }) })).toBe(
      `keyplane clusters connect eu --from-kubeconfig ${rest}\n`,
    ),
  )

  test('names the cluster in EKS as it is called here, unless it is called otherwise there', () => {
    const given = { how: 'eks', name: 'eu', file: 'x', platform: '', eks: '', region: 'r' } as const
    expect(connectCommand(given)).toContain(' --eks eu ')
  })
})

test('a virtual cluster is registered by commands with the address and the authority in its kube config', async () => {
  const given = { project: 'shop', name: 'dev', file: "/it's", team: 'Shop: EU' }
  const config = `printf '%s|' "$*" >&2; case "$*" in *.server}) echo https://dev.example.com:6443 ;; *) echo 'Q0E=' ;; esac`
  const ran = promisify(execFile)('bash', [], { env: { PATH: process.env.PATH } })
  const stubs = `kubectl() { case "$1" in create) cat ;; *) ${config} ;; esac; }\nkeyplane() { echo "$@"; }\n`
  feed(ran.child, stubs + registerCommands(given, 'p-'))
  const { stdout, stderr } = await ran
  expect(stderr).toMatch(
    /^--kubeconfig \/it's config view (.*\.server}\|)--kubeconfig .*\.certificate-authority-data}\|$/,
  )
  expect(stdout).toContain('metadata:\n  namespace: p-shop\n  name: dev\n')
  expect(stdout).toContain('  owner:\n    team: "Shop: EU"\n')
  expect(stdout).toContain('      host: "dev.example.com:6443"\n  certificateAuthorityData: "Q0E="\n')
  expect(stdout.split('\n').at(-2)).toBe('clusters connect shop/dev --for vcluster')
  expect(['$(x)', 'a`x`', 'a\\', '"', "'", '', ' '].filter(isTeam)).toEqual([])
})

describe('the file for curl', () => {
  test('is written by one pasted command, with the key that is typed and in no argument', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keyplane-curl-'))
    const file = join(folder, "it's a folder", 'dev.curl')
    const ran = promisify(execFile)('bash', [], { env: { PATH: process.env.PATH } })
    feed(ran.child, `${curlFileCommand(file, place, SERVER)}the-access-key\n`)
    await ran
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(await readFile(file, 'utf8')).toBe(
      [
        'header = "Authorization: Bearer the-access-key"',
        `url = "${SERVER}/apis/management.platform/v1/namespaces/p-shop/virtualclusterinstances/dev/kubeconfig"`,
        'header = "Content-Type: application/json"',
        'header = "Accept: application/json;as=ExecCredential;g=client.authentication.k8s.io;v=v1"',
        'data = "{\\"spec\\":{\\"certificateTTL\\":900}}"',
        'silent',
        'show-error',
        'fail',
        'max-time = 30',
        'write-out = "%{onerror}%{stderr}%header{warning}\\n"',
        '',
      ].join('\n'),
    )
    await rm(folder, { recursive: true })
  })
})
