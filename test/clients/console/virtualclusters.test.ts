/** Kube configs of virtual clusters: which are shown, what is asked of the server, file names, and commands that a shell runs. */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Api } from '../../../clients/console/src/api/client.ts'
import { ApiError } from '../../../clients/console/src/api/status.ts'
import { placesOf, readClusters } from '../../../clients/console/src/pages/virtualclusters/readclusters.ts'
import {
  curlFileCommand,
  fileNameOf,
  nextCommands,
  pathProblem,
  sameCommands,
  specOf,
} from '../../../clients/console/src/pages/virtualclusters/ways.ts'
import { endpointOf, matches, ownerOf, stateOf } from '../../../clients/console/src/pages/virtualclusters/words.ts'
import type { Self, VirtualCluster } from '../../../clients/core/src/objects.ts'
import { projectIn } from '../../../clients/core/src/projects.ts'
import { feed } from '../../support/feed.ts'
import cases from './vectors/virtualclusters.cases.json' with { type: 'json' }

const SERVER = 'https://keys.example.com/prod/kubernetes/management'
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
    expect(placesOf(scope, 'p-')).toEqual({ namespaces: ['p-a', 'p-b', 'p-f'], single: ['p-d/x', 'p-c/x'] })
  })

  test('are none without names', () => {
    expect(placesOf(undefined, 'p-')).toEqual({ namespaces: [], single: [] })
    expect(placesOf({ projects: [{ project: '*' }] }, 'p-')).toEqual({ namespaces: [], single: [] })
  })

  test('have the prefix of the server', () =>
    expect([projectIn('team-a', 'team-'), projectIn('team-', 'team-'), projectIn('other', 'team-')]).toEqual([
      'a',
      undefined,
      undefined,
    ]))
})

describe('reading virtual clusters', () => {
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
  const read = (answers: Record<string, object | number>, who: Self = self, further?: string) =>
    readClusters(api(answers), who, further, new AbortController().signal)
  const list = (...items: VirtualCluster[]) => ({ metadata: { resourceVersion: '1' }, items })

  test('asks for all of them', async () =>
    expect(await read({ virtualclusterinstances: list(cluster()) })).toEqual({
      items: [cluster()],
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
      'p-c',
    )
    expect(found).toEqual({
      items: [cluster()],
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
      'p-c',
    )
    expect(found).toEqual({ items: [cluster()], more: false, only: { namespaces: ['p-c'], single: [] }, refused: [] })
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

  test('are found by each word of a filter', () => {
    const one = cluster({ spec: { displayName: 'Development', owner: { user: 'alice' } }, status: { phase: 'Ready' } })
    const found = ['shop/dev', 'DEVELOP alice', 'ready', 'bob', 'dev bob'].map((text) => matches(one, text, 'p-'))
    expect(found).toEqual([true, true, true, false, false])
  })
})

describe('a kube config', () => {
  const choice = { seconds: 3600, file: 'C:\\Users\\alice\\dev.curl' }
  const exec = (command: string, ...args: string[]) => ({ exec: { command, args } })

  test.each([
    ['curl', exec('curl', '-q', '--proto', '=https', '--config', 'C:/Users/alice/dev.curl')],
    ['keyplane', exec('keyplane', 'credential', '--virtual-cluster', 'shop/dev', '--context', 'keys.example.com/prod')],
    ['token', { certificateTTL: 3600 }],
    ['certificate', { certificateTTL: 3600, clientCert: true }],
  ] as const)('that signs in with %s is asked for', (way, spec) =>
    expect(specOf({ ...choice, way }, place, SERVER)).toEqual(spec),
  )

  test.each([
    [place, 'shop-dev.kubeconfig'],
    [{ namespace: 'default', name: 'dev' }, 'default-dev.kubeconfig'],
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

  test('comes with commands for its way', () => {
    const commands = (way: 'curl' | 'keyplane' | 'token' | 'certificate') =>
      sameCommands({ ...choice, way }, place, SERVER).map(({ text }) => text)
    expect(commands('keyplane')[0]).toBe('keyplane kubeconfig shop/dev \\\n  --merge\n')
    expect(commands('certificate')[0]).toContain('--with cert \\\n  --ttl 3600s')
    expect(nextCommands({ ...choice, way: 'keyplane' }, place, SERVER)).toBe(
      `keyplane login ${SERVER} --context keys.example.com/prod\nkubectl --kubeconfig ./shop-dev.kubeconfig get pods\n`,
    )
    const titles = sameCommands({ ...choice, way: 'token' }, { namespace: 'default', name: 'dev' }, SERVER)
    expect(titles.map(({ title }) => title)).toEqual(['kubectl', 'curl'])
  })
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
