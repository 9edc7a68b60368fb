/** `keyplane clusters check`: against an API server that answers as each test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { NO_RIGHT } from '../../../lib/access/users/reviewright.ts'
import { listening } from '../../support/listening.ts'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import { accessKey, clusters, cluster as connected, keys } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import { useFront } from './front.ts'

const server = useServer()
const front = useFront(server)
let cli: CommandLine
let api: Awaited<ReturnType<typeof listeningOverTls>>
let answer: (request: IncomingMessage, response: ServerResponse) => void
let seen: string[]
let made = 0

const whoami = { status: { userInfo: { username: 'alice' } } }
const says =
  (code: number, body: object, headers = {}) =>
  (_: unknown, response: ServerResponse) =>
    response.writeHead(code, headers).end(JSON.stringify(body))

beforeAll(async () => {
  api = await listeningOverTls((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization?.replace(/ey\S+/, 'JWT')}`)
    answer(request, response)
  })
  cli = await createCommandLine(server)
})
beforeEach(() => {
  seen = []
  answer = says(201, whoami)
})
afterAll(async () => {
  await cli?.stop()
  await api?.stop()
})

async function check(spec: object = {}) {
  const name = `check-${++made}`
  const certificateAuthorityData = Buffer.from(api.certificateAuthority).toString('base64')
  await server.make(clusters, connected(name, { server: `${api.url}/`, certificateAuthorityData, ...spec }))
  const { code, stdout, stderr } = await cli.run(['clusters', 'check', name])
  return { name, code, steps: stdout.split('\n').map((line) => line.slice(0, 14).trim()), stdout, stderr }
}

test('goes the whole way, with a token for this cluster', async () => {
  const { code, steps, stdout, stderr } = await check()
  expect([code, stderr]).toEqual([0, ''])
  expect(steps.map((one) => one.replace(/\s+/, ' '))).toEqual([
    ...['ok object', 'ok token', 'ok addres', 'ok user', 'ok clock', ''],
  ])
  expect(stdout).toContain('the cluster knows you as alice')
  expect(seen).toEqual(['POST /apis/authentication.k8s.io/v1/selfsubjectreviews Bearer JWT'])
})

test('goes through the proxy of the object', async () => {
  const tunnelled: unknown[] = []
  const proxy = await listening(
    createServer().on('connect', ({ url }, socket) => {
      tunnelled.push(url)
      const onward = connect(Number(url?.split(':')[1]), '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      socket.on('error', () => onward.destroy()).pipe(onward)
      onward.pipe(socket)
    }),
  )
  const { code, stdout } = await check({ proxyURL: proxy.url })
  await proxy.stop()
  expect([code, tunnelled]).toEqual([0, [new URL(api.url).host]])
  expect(stdout).toContain(`${api.url} answers through ${proxy.url}`)
})

test.each([
  {
    when: 'keyplane does not reach the cluster',
    spec: { tokens: 'ServiceAccounts' },
    step: 'token',
    has: ['has no stored credentials', 'AWS Secrets Manager', 'Store those of the service account'],
  },
  {
    when: 'another authority signed its certificate',
    spec: { certificateAuthorityData: '' },
    step: 'address',
    has: ['certificate', 'spec.certificateAuthorityData'],
  },
  {
    when: 'its proxy is one of SOCKS',
    spec: { proxyURL: 'socks5://127.0.0.1:9' },
    step: 'address',
    has: ['one of SOCKS, which Node.js does not speak', 'kubectl auth whoami'],
  },
  {
    when: 'its proxy does not listen',
    spec: { proxyURL: 'http://127.0.0.1:9' },
    step: 'address',
    has: ['spec.proxyURL'],
  },
  {
    when: 'its certificate is for another name',
    spec: { tlsServerName: 'other.example.com' },
    step: 'address',
    has: ['certificate', 'spec.tlsServerName'],
  },
  {
    when: 'nothing listens',
    spec: { server: 'https://127.0.0.1:9' },
    step: 'address',
    has: ['spec.server'],
  },
  {
    when: 'it does not know tokens of keyplane',
    answers: says(401, { kind: 'Status', message: 'Unauthorized' }),
    step: 'user',
    has: ['401. Unauthorized', 'those of: keyplane clusters connect check-'],
  },
  {
    when: 'it refuses, and may ask nobody',
    answers: says(403, { kind: 'Status', message: 'no' }),
    step: 'user',
    has: ['403. no', 'Its RBAC or another authorizer refuses you'],
  },
  {
    when: 'the key with which it asks may not review',
    answers: says(403, { kind: 'Status', message: `forbidden: ${NO_RIGHT}` }),
    step: 'user',
    has: ['403. forbidden', 'The key with which it asks keyplane must have the right to review'],
  },
  { when: 'it fails', answers: says(500, {}), step: 'user', has: ['answered 500', 'log of its API server'] },
  { when: 'it is something else', answers: says(200, {}), step: 'user', has: ['answered 200', 'Kubernetes API'] },
  {
    when: 'its clock is wrong',
    answers: says(201, whoami, { date: new Date(Date.now() - 120_000).toUTCString() }),
    step: 'clock',
    has: ['from the one of this machine', 'Set the wrong one'],
  },
])('ends at step $step when $when, and says what to do', async ({ spec, answers, step, has }) => {
  if (answers) answer = answers
  const { code, stdout, stderr } = await check(spec)
  expect(code).not.toBe(0)
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(`failed  ${step}`)
  for (const text of has) expect(stderr).toContain(text)
  expect(stdout + stderr).not.toContain('eyJ')
})

test('names the key with which the cluster asks, if that does not work, to who may see it', async () => {
  const name = `check-${++made}`
  const scope = { roles: [{ role: 'agent' }], clusters: [{ cluster: name }] }
  await server.make(keys, accessKey(`agent-${name}`, { user: `agent-${name}`, scope, disabled: true }))
  const certificateAuthorityData = Buffer.from(api.certificateAuthority).toString('base64')
  await server.make(clusters, connected(name, { server: `${api.url}/`, certificateAuthorityData }))
  const words = `cluster ${name} refuses all users of keyplane, because the key with which it asks keyplane does not work: agent-${name} is disabled`
  answer = says(500, {})
  const check = () => cli.run(['clusters', 'check', name])
  expect((await check()).stderr).toContain(
    `It seems that ${words}. To see what is missing: keyplane clusters connect ${name}`,
  )
  expect((await cli.run(['kubeconfig', name])).stderr).toContain(`Warning: ${words}\n`)
  const run = await cli.run(['run', '--cluster', name, '--', process.execPath, '-e', ''])
  expect([run.code, run.stderr]).toEqual([0, expect.stringContaining(`Warning: ${words}\n`)])
  // One that works is enough.
  await server.make(keys, accessKey(`other-${name}`, { user: `agent-${name}`, scope }))
  expect((await check()).stderr).toContain('It could not ask keyplane')
  expect((await cli.run(['kubeconfig', name])).stderr).not.toContain('refuses')
})

// The server says each of these in a sentence of its own.
test.each([
  ['has no stored credentials', 'Store those of the service account'],
  ['does not accept the stored credentials', 'They have ended. An administrator of the cluster makes'],
  ['does not permit this with the stored credentials', 'gives the service account of keyplane its rights again'],
  ['cannot be reached: the connection was refused', 'keyplane itself must reach the address'],
  [
    'cannot be reached: AWS does not give this deployment the role for it',
    'An administrator of the deployment creates the role',
  ],
])('where the cluster %s it says what to do, and not to try again', async (said, remedy) => {
  const name = `check-${++made}`
  const certificateAuthorityData = Buffer.from(api.certificateAuthority).toString('base64')
  await server.make(
    clusters,
    connected(name, { server: `${api.url}/`, certificateAuthorityData, tokens: 'ServiceAccounts' }),
  )
  front.change = (text) => text.replace('has no stored credentials', said)
  const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) }
  const { stderr } = await cli.run(['clusters', 'check', name], { env, clock: givenClock() })
  expect(stderr).toContain(said)
  expect(stderr).toContain(remedy)
  expect(stderr).not.toContain('Try again')
})

test('ends at the object for a cluster that one may not use', async () => {
  const { code, stdout, stderr } = await cli.run(['clusters', 'check', 'nowhere'])
  expect([code, stdout]).toEqual([4, 'failed  object\n'])
  expect(stderr).toContain('"nowhere" not found')
})
