/** Runs the GitLab component in every shell of this machine, against the local server with its demo virtual cluster. */

import { existsSync } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import https from 'node:https'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { providers, trusts } from '../../support/federation.ts'
import { testFolder } from '../../support/folder.ts'
import { describeKubectl } from '../../support/kubectl.ts'
import { cluster, clusters, keys } from '../../support/objects.ts'
import { request } from '../../support/request.ts'
import { type StartedServer, startedServer } from '../../support/startedserver.ts'
import { startFaultyFront } from '../action/faultyfront.ts'
import { interpolate, type Job, posixShells, runAfterScript, runScript, type Shell } from './gitlab.ts'

const text = await readFile(new URL('../../../clients/gitlab/templates/kubeconfig.yml', import.meta.url), 'utf8')

let server: StartedServer
const builds = testFolder()
let credential: string
beforeAll(async () => {
  server = await startedServer()
  const { issuer, jwks } = (await server.call(`${providers}/demo`)).json.spec
  const access = [{ verbs: ['use'], teams: ['*'] }]
  await server.call(providers, {
    method: 'POST',
    body: { metadata: { name: 'gitlab' }, spec: { type: 'GitLab', issuer, jwks, access } },
  })
  const claims = Object.entries({ project_id: '20', environment: 'production', ref_protected: 'true' })
  const { json } = await server.call(trusts, {
    method: 'POST',
    body: {
      metadata: { name: 'deploy' },
      spec: {
        identityProvider: 'gitlab',
        user: 'alice',
        claims: claims.map(([claim, value]) => ({ claim, values: [value] })),
        scope: { projects: [{ project: 'demo' }] },
        ttl: 900,
      },
    },
  })
  credential = json.status.clientID
})
afterAll(async () => {
  await server?.stop()
})

const SECRET = /mpk_\w{20}|eyJ[\w-]{20}/

/** Returns a new ID token in the form of GitLab. */
async function idToken(): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token } = server.idTokenVariables
  const agent = new https.Agent({ ca: server.certificateAuthority })
  const audience = encodeURIComponent(server.url)
  const answer = await request(agent, `${new URL('/gitlab', url)}?audience=${audience}`, { token })
  agent.destroy()
  return answer.text.trim()
}

let count = 300
/** Returns a job that extends the component, and where it runs. */
async function jobOf(inputs: Record<string, string | number>, script: string[] = ['true'], variables: object = {}) {
  const jobs = interpolate(text, { url: server.url, 'virtual-cluster': 'demo/demo', ...inputs })
  const job: Job = { ...(jobs['.keyplane'] as Job), script }
  const id = String(++count)
  const project = join(builds, `project-${id}`)
  await mkdir(project)
  const env = {
    PATH: process.env.PATH,
    HOME: builds,
    CURL_CA_BUNDLE: server.authorityFile,
    CI_BUILDS_DIR: builds,
    CI_JOB_ID: id,
    ...variables,
  }
  return { job, place: { cwd: project, env }, folder: join(builds, `.keyplane-${id}`) }
}

const trusted = async (inputs = {}, script?: string[], variables = {}) =>
  jobOf({ credential, ...inputs }, script, { KEYPLANE_ID_TOKEN: await idToken(), ...variables })

/** The names of the keys that exchanges have made and that still exist. */
async function exchangedKeys(): Promise<string[]> {
  const label = encodeURIComponent('management.platform/federated-identity-credential')
  const { json } = await server.call(`${keys}?labelSelector=${label}`)
  return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

const selves = async (token: string) =>
  (await server.call('/apis/management.platform/v1/selves', { method: 'POST', token, body: {} })).status

async function createKey(scope: object): Promise<string> {
  const body = { metadata: { generateName: 'ci-' }, spec: { user: 'alice', ttl: 7200, scope } }
  return (await server.call(keys, { method: 'POST', body })).json.spec.key
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1) ?? ''

test('the shells include one that has no pipefail or other extensions', () =>
  expect(posixShells.map(({ name }) => name)).toEqual(expect.arrayContaining(['bash'])))

describe.each(posixShells)('in $name', (shell: Shell) => {
  // threat: jobs-3
  test('a trusted job has the kube config of a cluster and no key, and ends with its token', async () => {
    const { job, place, folder } = await trusted({}, ['echo "KUBECONFIG=$KUBECONFIG"'])
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    const [, ends = ''] = /^keyplane: KUBECONFIG is .+, valid until (\S+)$/m.exec(ran.stdout) ?? []
    const text = await readFile(join(folder, 'kubeconfig'), 'utf8')
    const { users } = load(text) as { users: [{ user: { token: string } }] }
    const [, claims = ''] = users[0].user.token.split('.')
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    expect(Date.parse(ends)).toBe(exp * 1000)
    expect(ran.stdout).not.toMatch(SECRET)
    expect((await readdir(folder)).sort()).toEqual(['kubeconfig', 'token'])
    const modes = ['', 'token', 'kubeconfig'].map(async (name) => (await stat(join(folder, name))).mode & 0o777)
    expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600])
    expect(await exchangedKeys()).toHaveLength(1)

    expect(await runAfterScript(shell, job, place)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect([await exchangedKeys(), existsSync(folder)]).toEqual([[], false])
    expect(await runAfterScript(shell, job, place)).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('a trusted job that chooses a lifetime has a key too, in private files outside its project, and ends with it', async () => {
    const script = ['echo "KUBECONFIG=$KUBECONFIG"', 'set -o | grep xtrace']
    const { job, place, folder } = await trusted({ ttl: 600 }, script)
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    const [, ends = ''] = /^keyplane: KUBECONFIG is (.*)\nKUBECONFIG=/m.exec(ran.stdout) ?? []
    expect(ends).toMatch(`${folder}/kubeconfig, valid until `)
    expect(Math.abs(Date.parse(ends.split(' ').at(-1) ?? '') - Date.now() - 600_000)).toBeLessThan(60_000)
    expect(ran.stdout).toContain(`KUBECONFIG=${folder}/kubeconfig\n`)
    expect(ran.stdout).not.toMatch(SECRET)
    const key = (await readFile(join(folder, 'key'), 'utf8')).trim()
    const modes = ['', 'key', 'kubeconfig', 'header'].map(async (name) => (await stat(join(folder, name))).mode & 0o777)
    expect(await Promise.all(modes)).toEqual([0o700, 0o600, 0o600, 0o600])
    expect([await selves(key), await readdir(place.cwd)]).toEqual([201, []])

    expect(await runAfterScript(shell, job, place)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect([await selves(key), existsSync(folder)]).toEqual([401, false])
    expect(await runAfterScript(shell, job, place)).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('a job with a key uses that, and leaves it valid', async () => {
    const key = await createKey({ projects: [{ project: 'demo' }] })
    const { job, place, folder } = await jobOf({}, ['cat "$KUBECONFIG"'], { KEYPLANE_KEY: key })
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('\nkind: Config\n')])
    expect((await runAfterScript(shell, job, place)).code).toBe(0)
    expect([await selves(key), existsSync(folder)]).toEqual([201, false])
  })

  test('a refused job fails with the reason, before its own script', async () => {
    const { job, place, folder } = await trusted(
      { credential: credential.replace(/.$/, (last) => (last === '0' ? '1' : '0')) },
      ['echo ran'],
    )
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stdout]).toEqual([1, ''])
    expect(lastLine(ran.stderr)).toMatch(
      /^keyplane: the exchange of the ID token for a kube config of demo\/demo failed: the subject token is not accepted for this client_id/,
    )
    expect(await runAfterScript(shell, job, place)).toMatchObject({ code: 0 })
    expect(existsSync(folder)).toBe(false)
  })

  test('a job without the right scope is told which entry is missing', async () => {
    const { job, place } = await trusted({ 'virtual-cluster': 'other/demo', ttl: 600 })
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/message: .*spec\.scope does not allow/s)])
    expect(ran.stderr).toContain('would allow it')
    expect(lastLine(ran.stderr)).toMatch(
      /^keyplane: the request for a kube config of other\/demo failed: .*spec\.scope/,
    )
    await runAfterScript(shell, job, place)
  })

  test('a job whose trust does not name the cluster is refused in one request', async () => {
    const { job, place } = await trusted({ 'virtual-cluster': '', cluster: 'south' })
    const ran = await runScript(shell, job, place)
    expect([ran.code, lastLine(ran.stderr)]).toEqual([
      1,
      expect.stringMatching(/^keyplane: the exchange of the ID token for a kube config of south failed: ./),
    ])
    expect(await exchangedKeys()).toEqual([])
    await runAfterScript(shell, job, place)
  })

  // threat: jobs-3
  test('a trusted job has one kube config for several clusters, and ends with all tokens', async () => {
    const names = ['arctic', 'pacific']
    const access = [{ verbs: ['use'], users: ['alice'] }]
    for (const name of names)
      await server.call(clusters, {
        method: 'POST',
        body: cluster(name, { server: `https://${name}.example`, access }),
      })
    const { spec } = (await server.call(`${trusts}/deploy`)).json
    const scope = { clusters: names.map((name) => ({ cluster: name })) }
    await server.call(trusts, { method: 'POST', body: { metadata: { name: 'oceans' }, spec: { ...spec, scope } } })
    const { json } = await server.call(`${trusts}/oceans`)
    const several = { 'virtual-cluster': '', cluster: 'pacific, arctic', credential: json.status.clientID }
    const { job, place, folder } = await trusted(several)
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toMatch(/valid until \S+Z$/m)
    expect(ran.stdout).not.toMatch(SECRET)
    const config = load(await readFile(join(folder, 'kubeconfig'), 'utf8'))
    expect(config).toMatchObject({
      clusters: [{ cluster: { server: 'https://pacific.example' } }, { cluster: { server: 'https://arctic.example' } }],
    })
    expect(await exchangedKeys()).toHaveLength(1)
    expect(await runAfterScript(shell, job, place)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect([await exchangedKeys(), existsSync(folder)]).toEqual([[], false])
    const other = await trusted({ ...several, ttl: 600 })
    expect(lastLine((await runScript(shell, other.job, other.place)).stderr)).toContain(
      'several clusters need credential',
    )
  })

  // threat: jobs-1
  test('prints no secret though the job prints every command', async () => {
    const { job, place } = await trusted({}, ['echo done'])
    const ran = await runScript(shell, { ...job, before_script: ['set -o xtrace', ...job.before_script] }, place)
    expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('done')])
    // The shell prints the commands of the job itself again.
    expect(ran.stderr).toMatch(/^\+ echo '?done'?$/m)
    expect(ran.stderr).not.toMatch(SECRET)
    const ended = await runAfterScript(shell, { ...job, after_script: ['set -o xtrace', ...job.after_script] }, place)
    expect([ended.code, SECRET.test(ended.stderr)]).toEqual([0, false])
  })
})

const [shell] = posixShells as [Shell]

describeKubectl('kubectl', () => {
  test('lists the pods of the virtual cluster', async () => {
    const { job, place } = await trusted({ ttl: 600 }, ['kubectl get pods'])
    expect(await runScript(shell, job, place)).toMatchObject({ code: 0, stdout: expect.stringContaining('Running') })
    await runAfterScript(shell, job, place)
  })

  test('talks to the management API without a virtual cluster', async () => {
    const CURL_CA_BUNDLE = join(builds, "it's ca.crt")
    await copyFile(server.authorityFile, CURL_CA_BUNDLE)
    const { job, place, folder } = await trusted({ 'virtual-cluster': '' }, ['kubectl auth whoami'], { CURL_CA_BUNDLE })
    expect(await runScript(shell, job, place)).toMatchObject({ code: 0, stdout: expect.stringContaining('alice') })
    const key = await readFile(join(folder, 'key'), 'utf8')
    expect(key).toMatch(/^mpk_\w{49}$/)
    expect(load(await readFile(join(folder, 'kubeconfig'), 'utf8'))).toMatchObject({
      users: [{ user: { token: key } }],
    })
    await runAfterScript(shell, job, place)
  })

  // threat: rotation-8
  test.each([
    [`it's"a$key:#{&*\\`.padEnd(40, 'x'), undefined],
    [`${'x'.repeat(40)}\n\n`, 'x'.repeat(40)],
  ])('writes exactly the key %j', async (key, written = key) => {
    const { job, place, folder } = await jobOf({ 'virtual-cluster': '' }, [], { KEYPLANE_KEY: key })
    expect(await runScript(shell, job, place)).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe(written)
    const config = load(await readFile(join(folder, 'kubeconfig'), 'utf8'))
    expect(config).toMatchObject({ users: [{ user: { token: written } }] })
    await runAfterScript(shell, job, place)
  })

  test.each(['Bearer mpk_1', 'mpk_1\nmpk_2', 'mpk_\u00e4', 'mpk_1\t'])('refuses the key %j at once', async (key) => {
    const { job, place } = await jobOf({}, [], { KEYPLANE_KEY: key })
    const { code, stderr } = await runScript(shell, job, place)
    expect([code, stderr]).toEqual([1, expect.stringContaining('the variable KEYPLANE_KEY has spaces, line breaks')])
    expect(stderr).not.toContain('mpk_1')
    await runAfterScript(shell, job, place)
  })
})

test('a job that asks for a longer token than its key allows shows the warning of the server', async () => {
  const { job, place } = await trusted({ ttl: 7200 })
  expect(await runScript(shell, job, place)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(
      /^keyplane: Warning: requested expiration of 7200 seconds shortened to \d+ seconds\n$/,
    ),
  })
  await runAfterScript(shell, job, place)
})

describe('a connected cluster', () => {
  const address = 'https://east.example:6443'
  beforeAll(async () => {
    const access = [{ verbs: ['use'], users: ['alice'] }]
    const made = await server.call(clusters, { method: 'POST', body: cluster('east', { server: address, access }) })
    expect(made.status).toBe(201)
  })

  test('needs its name only, and the right to use it', async () => {
    const KEYPLANE_KEY = await createKey({ clusters: [{ cluster: 'east' }] })
    const { job, place, folder } = await jobOf({ 'virtual-cluster': '', cluster: 'east', ttl: 600 }, [], {
      KEYPLANE_KEY,
    })
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([0, ''])
    expect(ran.stdout).toMatch(/valid until \S+Z\n$/)
    const config = load(await readFile(join(folder, 'kubeconfig'), 'utf8'))
    expect(config).toMatchObject({
      clusters: [{ cluster: { server: address } }],
      users: [{ user: { token: expect.stringMatching(/^eyJ/) } }],
    })
    await runAfterScript(shell, job, place)
  })

  test('is refused with the reason as the last line', async () => {
    const KEYPLANE_KEY = await createKey({ clusters: [{ cluster: 'west' }] })
    for (const [name, reason] of [
      ['east', 'spec.scope'],
      ['west', '"west" not found'],
    ] as const) {
      const { job, place } = await jobOf({ 'virtual-cluster': '', cluster: name }, [], { KEYPLANE_KEY })
      const ran = await runScript(shell, job, place)
      expect([ran.code, lastLine(ran.stderr)]).toEqual([1, expect.stringContaining(reason)])
      await runAfterScript(shell, job, place)
    }
  })

  test('excludes a virtual cluster', async () => {
    const { job, place } = await jobOf({ cluster: 'east' }, [], { KEYPLANE_KEY: 'mpk_1' })
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([1, 'keyplane: give either virtual-cluster or cluster, not both\n'])
    expect(() => interpolate(text, { url: server.url, cluster: 'a/../b' })).toThrow('RegEx')
  })
})

describe('the last line of a refused job', () => {
  test('names the cause in JSON and in YAML', async () => {
    const key = await createKey({ projects: [{ project: 'demo' }] })
    const { job, place } = await jobOf({ ttl: 10 ** 9 }, [], { KEYPLANE_KEY: key })
    expect(lastLine((await runScript(shell, job, place)).stderr)).toMatch(
      /^keyplane: the request for a kube config of demo\/demo failed: .*spec\.certificateTTL: Invalid value: 1000000000/,
    )
    const unknown = await jobOf({}, [], { KEYPLANE_KEY: 'mpk_1' })
    expect(lastLine((await runScript(shell, unknown.job, unknown.place)).stderr)).toMatch(
      /^keyplane: the check of the access key failed: Unauthorized: the bearer token is not an access key/,
    )
    for (const each of [job, unknown.job]) await runAfterScript(shell, each, place)
  })

  test('names what curl says if there is no answer', async () => {
    const { job, place } = await trusted({}, [], { CURL_CA_BUNDLE: '/dev/null' })
    const ran = await runScript(shell, job, place)
    expect([ran.code, lastLine(ran.stderr)]).toEqual([1, expect.stringMatching(/of demo\/demo failed: \(\d+\) /)])
    await runAfterScript(shell, job, place)
  })
})

test('GitLab repeats a job whose exchange has no answer, and one whose ID token was exchanged without it', async () => {
  const front = await startFaultyFront(server.certificateAuthority)
  const CURL_CA_BUNDLE = join(builds, 'lost.crt')
  await writeFile(CURL_CA_BUNDLE, front.certificateAuthority)
  const { job: direct, place } = await trusted({}, [], { CURL_CA_BUNDLE })
  const job: Job = JSON.parse(JSON.stringify(direct).replaceAll(server.url, front.of(server.url)))
  expect(job.retry).toEqual({ max: 1, exit_codes: 75 })
  front.fault = () => 'reset'
  expect((await runScript(shell, job, place)).code).toBe(75)
  await runAfterScript(shell, job, place)
  front.fault = () => undefined
  expect((await runScript(shell, job, place)).code).toBe(0)
  await runAfterScript(shell, job, place)
  const again = await runScript(shell, job, place)
  await front.stop()
  expect([again.code, lastLine(again.stderr)]).toEqual([75, expect.stringContaining('has been exchanged already')])
  await runAfterScript(shell, job, place)
})

test('every request is tried six times in half a minute, as that of the step for GitHub Actions', () => {
  // curl waits for 1, 2, 4, 8 and 16 seconds, or for as long as the server asks it to, but not beyond the last option.
  const calls = text.match(/curl -q [^\n]*/g) ?? []
  expect(calls).toHaveLength(2)
  expect(calls.filter((call) => !call.includes(' --retry 5 --retry-connrefused --retry-max-time 90 '))).toEqual([])
})

test('scope narrows the key of the exchange', async () => {
  const { job, place, folder } = await trusted({ 'virtual-cluster': '', scope: 'virtualcluster:demo/other' })
  expect((await runScript(shell, job, place)).code).toBe(0)
  const key = (await readFile(join(folder, 'key'), 'utf8')).trim()
  const path = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo'
  expect((await server.call(path, { token: key })).status).toBe(403)
  await runAfterScript(shell, job, place)
})

test('a virtual cluster is in the namespace that begins as the server says', async () => {
  const front = await startFaultyFront(server.certificateAuthority)
  const authority = join(builds, 'front.crt')
  await writeFile(authority, front.certificateAuthority)
  const status = { user: { displayName: '"projectNamespacePrefix":"x-"' }, projectNamespacePrefix: 'team-' }
  const self = { code: 201, body: JSON.stringify({ kind: 'Self', status }, null, 2) }
  front.fault = (path) => (path.endsWith('/selves') ? self : { code: 404, body: 'not there' })
  const { job, place } = await jobOf({ url: front.of('https://keys.example/kubernetes/management') }, [], {
    KEYPLANE_KEY: 'mpk_1',
    CURL_CA_BUNDLE: authority,
  })
  const ran = await runScript(shell, job, place)
  await front.stop()
  expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('not there')])
  expect(front.seen.at(-1)).toMatch(/\/namespaces\/team-demo\/virtualclusterinstances\/demo\/kubeconfig$/)
})

describe('a job says what is missing', () => {
  test.each<[string, Record<string, string>, string]>([
    ['without an ID token', { KEYPLANE_ID_TOKEN: '' }, 'keyplane: this job has no ID token'],
    ['without curl', { PATH: '/nowhere' }, 'keyplane: this image has no curl'],
  ])('%s', async (_, variables, message) => {
    const { job, place } = await trusted({}, [], variables)
    const [command] = [
      process.env.PATH?.split(':')
        .map((folder) => join(folder, shell.command))
        .find(existsSync),
    ]
    const ran = await runScript({ ...shell, command: command ?? shell.command }, job, place)
    expect([ran.code === 0, ran.stderr]).toEqual([false, expect.stringContaining(message)])
  })

  test('without a trust and a key', async () => {
    const { job, place } = await jobOf({})
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('the masked variable KEYPLANE_KEY')])
    await runAfterScript(shell, job, place)
  })

  test('with a URL of another stage', async () => {
    const { job, place } = await trusted({ url: server.url.replace('/prod/', '/dev/') })
    const ran = await runScript(shell, job, place)
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining('with its stage if there is one')])
    await runAfterScript(shell, job, place)
  })
})

test('after_script leaves files of others, and says so', async () => {
  const { job, place, folder } = await trusted({}, ['echo mine > "$(dirname "$KUBECONFIG")/mine"'])
  expect((await runScript(shell, job, place)).code).toBe(0)
  const after = await runAfterScript(shell, job, place)
  expect([after.code, after.stderr]).toEqual([0, expect.stringContaining('has files of others, which stay')])
  expect(await readdir(folder)).toEqual(['mine'])
})

test('after_script removes the files even if the key cannot be revoked', async () => {
  const { job, place, folder } = await trusted()
  expect((await runScript(shell, job, place)).code).toBe(0)
  await writeFile(join(builds, 'no.crt'), '')
  const unreachable = { ...place, env: { ...place.env, CURL_CA_BUNDLE: join(builds, 'no.crt') } }
  const after = await runAfterScript(shell, job, unreachable)
  expect([after.code, after.stderr]).toEqual([0, expect.stringContaining('is not revoked, and ends by itself')])
  expect(existsSync(folder)).toBe(false)
})

test('after_script says that a cluster has not confirmed the end of its credential', async () => {
  const { job, place } = await trusted()
  expect((await runScript(shell, job, place)).code).toBe(0)
  await writeFile(join(builds, 'curl'), `#!/bin/sh\ncat > /dev/null; echo '{"revoked":true,"unconfirmed":["eu"]}'\n`, {
    mode: 0o755,
  })
  const after = await runAfterScript(shell, job, {
    ...place,
    env: { ...place.env, PATH: `${builds}:${process.env.PATH}` },
  })
  expect([after.code, after.stderr]).toEqual([0, expect.stringContaining('its cluster has not confirmed it')])
  await rm(join(builds, 'curl'))
})

describe('inputs', () => {
  const UID = '3b0c9f52-6f0e-4a57-9d7c-2f4f0a1b8c11'
  const URL = 'https://keys.example.com/prod/kubernetes/management'

  test('name the job and its stage, and give it the audience', () => {
    const jobs = interpolate(text, { url: URL, 'job-name': '.staging', stage: 'test' })
    expect(jobs).toMatchObject({ '.staging': { stage: 'test', id_tokens: { KEYPLANE_ID_TOKEN: { aud: URL } } } })
  })

  // threat: jobs-2
  test.each<[string, string]>([
    ['url', 'http://keys.example.com'],
    ['url', `${URL}/`],
    ['url', `${URL}'; id; '`],
    ['url', `${URL}$(id)`],
    ['url', `${URL}\nx: y`],
    ['credential', 'deploy'],
    ['credential', `deploy@${UID}'`],
    ['credential', `deploy@${UID}\n`],
    ['virtual-cluster', 'demo'],
    ['virtual-cluster', 'a/b/c'],
    ['virtual-cluster', "a/b';id"],
    ['scope', 'project:a\nb'],
    ['scope', '$(id)'],
    ['job-name', 'x: y'],
    ['ttl', '600'],
  ])('refuse as %s the value %j', (name, value) => {
    expect(() => interpolate(text, { url: URL, [name]: value })).toThrow(`\`${name}\` input`)
  })
})
