/** `keyplane clusters check`: against an API server that answers as each test says. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import { clusters, cluster as connected } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine } from './commandline.ts'

const server = useServer()
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

test.each([
  {
    when: 'keyplane does not reach the cluster',
    spec: { tokens: 'ServiceAccounts' },
    step: 'token',
    has: ['has no stored credentials', 'AWS Secrets Manager'],
  },
  {
    when: 'another authority signed its certificate',
    spec: { certificateAuthorityData: '' },
    step: 'address',
    has: ['certificate', 'spec.certificateAuthorityData'],
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
    has: ['401. Unauthorized', 'cluster-config -- --cluster check-'],
  },
  {
    when: 'its webhook refuses',
    answers: says(403, { kind: 'Status', message: 'no' }),
    step: 'user',
    has: ['403. no', 'right to review'],
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

test('ends at the object for a cluster that one may not use', async () => {
  const { code, stdout, stderr } = await cli.run(['clusters', 'check', 'nowhere'])
  expect([code, stdout]).toEqual([4, 'failed  object\n'])
  expect(stderr).toContain('"nowhere" not found')
})
