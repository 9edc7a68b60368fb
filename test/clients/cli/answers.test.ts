/** What the command line does with answers of a server: which may pass, and which tell it where projects are. */

import { randomBytes } from 'node:crypto'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import type http from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { demandProgram } from '../../../clients/cli/src/io/program.ts'
import { encodeKey } from '../../../lib/engine/meta/value/credentialformat.ts'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'

interface Answer {
  code: number
  headers?: http.OutgoingHttpHeaders
  body?: object
}

let server: Awaited<ReturnType<typeof listeningOverTls>>
let url: string
let ca: string
let cli: CommandLine
let seen: string[]
/** Answers all requests but those for oneself. */
let answers: (path: string) => Answer
beforeAll(async () => {
  server = await listeningOverTls((request, response) => {
    const path = request.url?.replace('/kubernetes/management/apis/management.platform/v1', '') ?? ''
    seen.push(path)
    const self = { kind: 'Self', status: { accessKey: 'ci', projectNamespacePrefix: 'team-' } }
    const { code, headers = {}, body } = path === '/selves' ? { code: 201, body: self } : answers(path)
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body ?? { kind: 'Status', code, message: `message ${code}` }))
  })
  url = `${server.url}/kubernetes/management`
  cli = await createCommandLine()
  ca = await cli.write('ca.crt', server.certificateAuthority)
})
afterAll(async () => {
  await server?.stop()
  await cli?.stop()
})
beforeEach(() => {
  seen = []
  answers = () => issued(900)
})

let tokens = 0
const issued = (seconds: number): Answer => {
  const expirationTimestamp = new Date(Date.now() + seconds * 1000).toISOString()
  return { code: 201, body: { kind: 'ExecCredential', status: { token: `token-${++tokens}`, expirationTimestamp } } }
}
const environment = () => ({ KEYPLANE_URL: url, KEYPLANE_KEY: 'mpk_a', KEYPLANE_CA: ca })
const logIn = (context: string) =>
  cli.ok(['login', url, '--context', context], { env: { KEYPLANE_CA: ca }, input: encodeKey(randomBytes(32)) })

describe('what may pass', () => {
  test.each([429, 500, 502, 503, 504, 408])('as %i ends no renewal, and a refusal does', async (code) => {
    const waits: number[] = []
    const script = [issued(60), { code, headers: { 'retry-after': '45' } }, issued(60), { code: 403 }]
    answers = () => script.shift() ?? { code: 403 }
    const file = join(cli.home, 'token')
    const ran = await cli.run(['token', '--cluster', 'west', '--ttl', '60s', '--out', file, '--renew'], {
      env: environment(),
      clock: givenClock((milliseconds) => void waits.push(milliseconds / 1000)),
    })
    expect([ran.code, ran.stderr]).toEqual([
      4,
      expect.stringMatching(/not renewed: .*45s\.\n.*renewed again[\s\S]*403/),
    ])
    expect(await readFile(file, 'utf8')).toBe(`token-${tokens}`)
  })

  const revoked = { code: 201, body: { status: { matched: 1, done: 1, failed: 0 } } }
  const reported = { code: 202, body: {} }
  test.each<[string, string[], Answer[]]>([
    ['revocation', ['revoke', '--name', 'ci', '--yes'], [revoked, revoked]],
    ['report of leaked keys', ['report-leak'], [reported, reported]],
  ])('ends no %s either, which goes on for minutes', async (_, args, [first, last]) => {
    const script = [first, ...Array.from({ length: 8 }, () => ({ code: 429 })), last]
    answers = () => script.shift() ?? { code: 500 }
    // Two requests: the dry run of a revocation, or the first 50 keys.
    const input = Array.from({ length: 51 }, () => encodeKey(randomBytes(32))).join('\n')
    const ran = await cli.run(args, { env: environment(), clock: givenClock(), input })
    expect([ran.code, script.length]).toEqual([0, 0])
  })

  test.each<[string, Answer, number]>([
    ['a 429', { code: 429 }, 2],
    ['a 503 that says when', { code: 503, headers: { 'retry-after': '20' } }, 2],
    ['no other 503, because an ID token may be used only once', { code: 503 }, 1],
    ['no refusal', { code: 400, body: { error: 'invalid_grant' } }, 1],
  ])('is asked again for an exchange: %s', async (_, passing, requests) => {
    const idToken = await cli.write('exchanged', String(requests) + passing.code)
    const script = [passing, { code: 200, body: { access_token: 'mpk_x', expires_in: 900 } }]
    answers = (path) => (path.endsWith('/oauth2/token') ? (script.shift() ?? { code: 500 }) : issued(900))
    const exchange = ['--exchange', 'ci@3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11', '--token-file', idToken]
    const env = { XDG_CACHE_HOME: join(cli.home, 'exchanged-keys'), KEYPLANE_CA: ca }
    const ran = await cli.run(['login', url, '--context', 'exchange', ...exchange], { env, clock: givenClock() })
    expect([seen.filter((path) => path.endsWith('/oauth2/token')).length, ran.code === 0]).toEqual([
      requests,
      requests === 2,
    ])
  })
})

// threat: plugin-3
test.each([
  ['an access key', { access_token: 'mpk_x', issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' }],
  ['a token without a type', { access_token: 'eyJ' }],
  ['a token with a line break', { access_token: 'a\nb', issued_token_type: 'urn:ietf:params:oauth:token-type:jwt' }],
])('the plugin prints nothing when an exchange for a cluster answers %s', async (_, body) => {
  answers = () => ({ code: 200, body: { ...body, expires_in: 900 } })
  const file = await cli.write('id-token', 'one')
  const env = { ...environment(), KEYPLANE_KEY: undefined, KEYPLANE_CLIENT_ID: 'a@b', KEYPLANE_ID_TOKEN_FILE: file }
  const ran = await cli.run(['credential', '--cluster', 'west'], { env })
  expect(ran).toEqual({ code: 1, stdout: '', stderr: `Error: ${url} answered without a token for clusters/west.\n` })
  expect(seen.length).toBe(1)
})

describe('the prefix of the namespaces of projects', () => {
  const PATH = '/namespaces/team-shop/virtualclusterinstances/dev/kubeconfig'
  const run = (env = {}) => cli.ok(['token', '--virtual-cluster', 'shop/dev'], { env })

  test('is asked for, and a login keeps it', async () => {
    await run(environment())
    expect(seen).toEqual(['/selves', PATH])
    await logIn('prefix')
    seen = []
    await run()
    expect(seen).toEqual([PATH])
    const items = [{ metadata: { name: 'dev', namespace: 'team-shop' } }]
    const kubeConfig = 'clusters: [{name: a, cluster: {server: "https://a"}}]\nusers: [{name: a, user: {token: a}}]'
    answers = (path) => ({ code: 200, body: path.includes('/kubeconfig') ? { status: { kubeConfig } } : { items } })
    const text = await cli.ok(['kubeconfig', '--project', 'shop'])
    expect(text).toContain('shop/dev')
    expect(seen.slice(1)).toEqual(['/namespaces/team-shop/virtualclusterinstances?limit=500', PATH])
  })

  test('is in the call that is meant by three parts of an object', async () => {
    answers = () => ({ code: 200, body: { items: [{ metadata: { name: 'demo', namespace: 'team-x' } }] } })
    const ran = await cli.run(['explain', 'ci', 'create', 'virtualclusterinstances/demo/kubeconfig'], {
      env: environment(),
    })
    const call = 'keyplane explain ci create virtualclusterinstances/demo --subresource kubeconfig -n team-x'
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(`You probably mean: ${call}\n`)])
  })
})

test('a logout removes the credentials of its context, and no others', async () => {
  const env = { XDG_CACHE_HOME: join(cli.home, 'caches') }
  const cached = async () =>
    (await readdir(join(env.XDG_CACHE_HOME, 'keyplane'))).filter((name) => name.endsWith('.json')).length
  const idToken = await cli.write('id-token', 'one')
  answers = (path) =>
    path.endsWith('/token') ? { code: 200, body: { access_token: 'mpk_x', expires_in: 900 } } : issued(900)
  const exchange = ['--exchange', 'ci@3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11', '--token-file', idToken]
  await logIn('one')
  await logIn('two')
  await cli.ok(['login', url, '--context', 'job', ...exchange], { env: { ...env, KEYPLANE_CA: ca } })
  for (const context of ['one', 'two', 'job'])
    await cli.ok(['credential', '--cluster', 'west', '--context', context], { env })
  expect(await cached()).toBe(4)
  await writeFile(idToken, 'two')
  await cli.ok(['logout', '--context', 'job'], { env })
  expect(await cached()).toBe(2)
  await cli.ok(['logout', '--context', 'one'], { env })
  seen = []
  await cli.ok(['credential', '--cluster', 'west', '--context', 'two'], { env })
  expect([await cached(), seen]).toEqual([1, []])
})

test('a batch file is refused on Windows before anything is changed', async () => {
  for (const name of ['gh.cmd', 'aws.exe', 'aws.cmd']) await chmod(await cli.write(name, ''), 0o755)
  const env = { PATH: cli.home, PATHEXT: '.COM;.EXE;.BAT;.cmd' }
  await expect(demandProgram(['aws', 'x'], env, 'win32')).resolves.toBeUndefined()
  await expect(demandProgram(['gh'], env, 'win32')).rejects.toMatchObject({
    message: expect.stringContaining('gh is not an .exe file'),
    hint: 'Nothing was changed. Run it with the shell: -- cmd /d /c gh …',
  })
})

test.each([
  ['win32', 'cmd /d /c "…"'],
  ['linux', "sh -c '…'"],
] as const)('a program that is missing on %s can be run with a shell: %s', (platform, shell) =>
  expect(demandProgram(['other'], { PATH: cli.home }, platform)).rejects.toMatchObject({
    message: 'The program "other" is not on the PATH.',
    hint: expect.stringContaining(`use: -- ${shell}`),
  }),
)
