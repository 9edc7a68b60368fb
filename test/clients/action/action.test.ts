/** Runs the Action against the local server with its demo virtual cluster and its issuer of ID tokens. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runPlugin } from '../../../clients/action/src/plugin.ts'
import { trusts } from '../../support/federation.ts'
import { createKubectl, describeKubectl, type Kubectl } from '../../support/kubectl.ts'
import { listening } from '../../support/listening.ts'
import { leaveLock } from '../../support/locks.ts'
import { cluster, clusters, keys } from '../../support/objects.ts'
import { type StartedServer, startedServer } from '../../support/startedserver.ts'
import { parseYaml } from '../../support/yaml.ts'
import { type Fault, type FaultyFront, startFaultyFront } from './faultyfront.ts'
import { actionFolder, type Runner, type StepResult, startRunner } from './runner.ts'

let server: StartedServer
let runner: Runner
let front: FaultyFront
beforeAll(async () => {
  server = await startedServer({}, new Date())
  ;[runner, front] = await Promise.all([startRunner(), startFaultyFront(server.certificateAuthority)])
  await writeFile(join(runner.folder, 'ca.crt'), server.certificateAuthority + front.certificateAuthority)
})
afterAll(async () => {
  await Promise.all([runner?.stop(), front?.stop()])
  await server?.stop()
})
afterEach(() => {
  front.fault = () => undefined
  front.seen = []
})

/** Returns the place that a token is for: `clusters/eu`. */
const audienceOf = (token: string): string => {
  const { aud } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return [aud].flat()[0].split('/').slice(-2).join('/')
}

const SECRET = /mpk_\w{20}|eyJ[\w-]{20}/

/** The inputs of a job that is trusted. */
const trusted = (more: Record<string, string> = {}) => ({
  url: server.url,
  credential: server.credential,
  'virtual-cluster': 'demo/demo',
  'certificate-authority': server.authorityFile,
  ...more,
})

/** The inputs and the environment of a job whose requests all pass the front. */
const fronted = (more: Record<string, string> = {}) =>
  [
    trusted({ url: front.of(server.url), audience: server.url, 'certificate-authority': 'ca.crt', ...more }),
    {
      ...server.idTokenVariables,
      ACTIONS_ID_TOKEN_REQUEST_URL: front.of(server.idTokenVariables.ACTIONS_ID_TOKEN_REQUEST_URL),
    },
  ] as const

const step = (inputs: Record<string, string>, env: Record<string, string | undefined> = server.idTokenVariables) =>
  runner.step(inputs, env)

async function expectDone(running: Promise<StepResult>): Promise<StepResult> {
  const result = await running
  expect([result.code, result.errors]).toEqual([0, []])
  expect(result.shown).not.toMatch(SECRET)
  return result
}

async function expectFailed(running: Promise<StepResult>): Promise<string> {
  const result = await running
  expect(result.code).toBe(1)
  expect(result.errors).toHaveLength(1)
  expect(result.shown).not.toMatch(SECRET)
  return result.errors[0] ?? ''
}

const selves = async (token: string) =>
  (await server.call('/apis/management.platform/v1/selves', { method: 'POST', token, body: {} })).status

/** Creates a key of alice with a scope, and returns its name and value. */
async function createKey(scope: object): Promise<{ name: string; key: string }> {
  const body = { metadata: { generateName: 'ci-' }, spec: { user: 'alice', ttl: 7200, scope } }
  const { json } = await server.call(keys, { method: 'POST', body })
  return { name: json.metadata.name, key: json.spec.key }
}

const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

const BUSY = { code: 503, headers: { 'retry-after': '0' } }
/** Lets requests to paths with this text fail. */
const fail = (text: string, fault: Fault) => {
  front.fault = (path) => (path.includes(text) ? fault : undefined)
}

/** Runs the main step, which succeeds, and returns its folder too. */
async function done(inputs: Record<string, string>, env?: Record<string, string | undefined>) {
  const one = await step(inputs, env)
  const result = await expectDone(one.main())
  return { one, ...result, folder: (await one.state()).STATE_folder ?? '' }
}
/** Runs the main step, which fails, and returns why. */
const failed = async (inputs: Record<string, string>, env?: Record<string, string | undefined>) =>
  expectFailed((await step(inputs, env)).main())

/** The names of the keys that exchanges have made and that still exist. */
async function exchangedKeys(): Promise<string[]> {
  const label = encodeURIComponent('management.platform/federated-identity-credential')
  const { json } = await server.call(`${keys}?labelSelector=${label}`)
  return json.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
}

describe('a step that asks for the kube config of a cluster only', () => {
  const address = 'https://north.example:6443'
  let north: string
  beforeAll(async () => {
    await server.call(clusters, {
      method: 'POST',
      body: cluster('north', { server: address, access: [{ verbs: ['use'], users: ['alice'] }] }),
    })
    const { spec } = (await server.call(`${trusts}/demo`)).json
    const { json } = await server.call(trusts, {
      method: 'POST',
      body: { metadata: { name: 'north' }, spec: { ...spec, scope: { clusters: [{ cluster: 'north' }] } } },
    })
    north = json.status.clientID
  })
  const inNorth = (more = {}) => fronted({ credential: north, 'virtual-cluster': '', cluster: 'north', ...more })

  // threat: jobs-3
  test('makes one request, holds no access key, and ends its token', async () => {
    const { one, raw, masks, variables, outputs, shown, folder } = await done(...fronted())
    expect(front.seen).toEqual([expect.stringMatching(/^\/github/), expect.stringMatching(/\/oauth2\/token$/)])
    const text = await readFile(outputs.kubeconfig ?? '', 'utf8')
    const config = await parseYaml(text)
    const { token } = config.users[0].user
    expect([masks.at(-1), masks.length, raw.startsWith('::add-mask::')]).toEqual([token, 2, true])
    expect(shown).toMatch(/^The kube config of virtual cluster demo\/demo is valid until \S+Z\.\n$/)
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    expect([variables, outputs]).toEqual([
      { KUBECONFIG: outputs.kubeconfig },
      { kubeconfig: outputs.kubeconfig, expires: new Date(exp * 1000).toISOString().replace('.000', '') },
    ])
    const written = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
    expect(written.join('\n')).not.toMatch(/mpk_/)
    expect(await exchangedKeys()).toHaveLength(1)
    await expectDone(one.post())
    expect([await exchangedKeys(), existsSync(folder)]).toEqual([[], false])
  })

  test('has the address of the object of a connected cluster, or its own', async () => {
    const [byObject, byInput] = [await done(...inNorth()), await done(...inNorth({ server: 'https://own.example' }))]
    const servers = [byObject, byInput].map(async ({ outputs }) => {
      const { clusters, users } = await parseYaml(await readFile(outputs.kubeconfig ?? '', 'utf8'))
      return [clusters[0].cluster.server, typeof users[0].user.token]
    })
    expect(await Promise.all(servers)).toEqual([
      [address, 'string'],
      ['https://own.example', 'string'],
    ])
    expect([exchanges(), front.seen.length]).toEqual([2, 4])
    for (const { one } of [byObject, byInput]) await expectDone(one.post())
  })

  // threat: jobs-3
  test('gets one kube config for several clusters with one request, and ends all tokens', async () => {
    await server.call(clusters, {
      method: 'POST',
      body: cluster('polar', { server: 'https://polar.example', access: [{ verbs: ['use'], users: ['alice'] }] }),
    })
    const { spec } = (await server.call(`${trusts}/demo`)).json
    const names = ['north', 'polar'].map((name) => ({ cluster: name }))
    const { json } = await server.call(trusts, {
      method: 'POST',
      body: { metadata: { name: 'poles' }, spec: { ...spec, scope: { clusters: names } } },
    })
    const credential = json.status.clientID
    const { one, masks, outputs, shown } = await done(...inNorth({ credential, cluster: 'polar, north' }))
    const config = await parseYaml(await readFile(outputs.kubeconfig ?? '', 'utf8'))
    expect(config.clusters.map((entry: { cluster: { server: string } }) => entry.cluster.server)).toEqual([
      'https://polar.example',
      address,
    ])
    const tokens = config.users.map((entry: { user: { token: string } }) => entry.user.token)
    expect(masks).toEqual(expect.arrayContaining(tokens))
    expect(shown).toMatch(/^The kube config of clusters polar, north is valid until \S+Z\.\n$/)
    expect([exchanges(), await exchangedKeys()]).toEqual([1, [expect.any(String)]])
    await expectDone(one.post())
    expect(await exchangedKeys()).toEqual([])
  })

  test('renews the token of each of several clusters by itself, and ends all', async () => {
    const { spec } = (await server.call(`${trusts}/demo`)).json
    for (const name of ['arctic', 'baltic'])
      await server.call(clusters, {
        method: 'POST',
        body: cluster(name, { access: [{ verbs: ['use'], users: ['alice'] }] }),
      })
    const scope = { clusters: ['arctic', 'baltic'].map((name) => ({ cluster: name })) }
    const { json } = await server.call(trusts, {
      method: 'POST',
      body: { metadata: { name: 'seas' }, spec: { ...spec, scope } },
    })
    const [inputs, env] = inNorth({ credential: json.status.clientID, cluster: 'baltic, arctic', renew: 'true' })
    const { one, outputs, folder } = await done(inputs, env)
    const text = await readFile(outputs.kubeconfig ?? '', 'utf8')
    expect(text).not.toMatch(SECRET)
    const { users } = await parseYaml(text)
    const folders: string[] = users.map((entry: { user: { exec: { args: string[] } } }) => entry.user.exec.args.at(-1))
    expect(folders).toEqual(['baltic', 'arctic'].map((name) => join(folder, `cluster-${name}`)))
    const token = async (of: string) => {
      const said: string[] = []
      expect(
        await runPlugin(
          of,
          { ...server.idTokenVariables, ...env },
          { out: (text) => void said.push(text), err: () => {} },
        ),
      ).toBe(0)
      return JSON.parse(said.join('')).status.token as string
    }
    const first = await Promise.all(folders.map(token))
    expect([first.map(audienceOf), exchanges()]).toEqual([['clusters/baltic', 'clusters/arctic'], 1])
    const held = join(folders[0] ?? '', 'credential.json')
    const { token: old } = JSON.parse(await readFile(held, 'utf8'))
    await writeFile(held, JSON.stringify({ token: old, tokenLife: { from: 0, until: 1 } }))
    const [baltic, arctic] = await Promise.all(folders.map(token))
    expect([baltic === old, audienceOf(baltic ?? ''), arctic === first[1], exchanges()]).toEqual([
      false,
      'clusters/baltic',
      true,
      2,
    ])
    await expectDone(one.post())
    expect([await exchangedKeys(), existsSync(folder)]).toEqual([[], false])
  })

  test.each([
    [{}, 'v1'],
    [{ 'exec-api': 'v1beta1' }, 'v1beta1'],
    [{ server: 'https://own.example', 'exec-api': 'v1beta1' }, 'v1beta1'],
  ])('renews its token by exchanges (%j)', async (more, version) => {
    const { one, outputs, folder } = await done(...inNorth({ renew: 'true', ...more }))
    const text = await readFile(outputs.kubeconfig ?? '', 'utf8')
    expect(text).not.toMatch(SECRET)
    const { apiVersion, args } = (await parseYaml(text)).users[0].user.exec
    expect([apiVersion, args.at(-1)]).toEqual([`client.authentication.k8s.io/${version}`, folder])
    await expectDone(one.post())
  })

  test('is refused a cluster that its trust does not name', async () => {
    const error = await failed(...inNorth({ cluster: 'south' }))
    expect(error).toMatch(/^the exchange of the ID token for a kube config of cluster south failed: 400 /)
    expect([exchanges(), await exchangedKeys()]).toEqual([1, []])
  })

  // threat: jobs-3
  test('takes no answer that is an access key', async () => {
    const key = { access_token: `mpk_${'x'.repeat(49)}`, expires_in: 900 }
    fail('oauth2', { code: 200, body: JSON.stringify(key) })
    expect(await failed(...inNorth())).toContain('answered without a kube config of cluster north')
    expect(await failed(...inNorth({ server: 'https://own.example' }))).toContain('without a token of cluster north')
  })
})

describe('a step with a trust that asks for the key as well', () => {
  // threat: jobs-1
  test('masks the ID token, the key and the token before anything else is printed, and writes private files', async () => {
    const one = await step(trusted({ 'output-key': 'true' }))
    const main = await one.begin('main')
    const { raw, masks, variables, outputs, shown } = await expectDone(main.ended)
    const config = await readFile(outputs.kubeconfig ?? '', 'utf8')
    const key = await readFile(outputs['key-file'] ?? '', 'utf8')
    const token = /token: (\S+)/.exec(config)?.[1]
    expect(masks).toEqual([expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/), key, token])
    expect(raw.startsWith('::add-mask::')).toBe(true)
    expect(shown).toMatch(
      /^The access key of demo@\S+ is valid until \S+Z\.\nThe kube config of virtual cluster demo\/demo is valid until \S+Z\.\n$/,
    )
    expect(variables).toEqual({ KUBECONFIG: outputs.kubeconfig })
    expect(outputs).toMatchObject({ key, expires: expect.stringMatching(/Z$/) })
    const folder = (await one.state()).STATE_folder ?? ''
    const modes = await Promise.all([folder, outputs.kubeconfig ?? '', outputs['key-file'] ?? ''].map(mode))
    expect(modes).toEqual(['700', '600', '600'])
    expect(JSON.stringify(await one.state())).not.toMatch(SECRET)
    expect(await selves(key)).toBe(201)

    const post = await one.begin('post')
    const after = await expectDone(post.ended)
    expect(after.warnings).toEqual([])
    expect(await selves(key)).toBe(401)
    expect(existsSync(folder)).toBe(false)
  })

  test('may run its post step twice', async () => {
    const { one } = await done(trusted())
    await expectDone(one.post())
    const again = await expectDone(one.post())
    expect(again.raw).toBe('')
  })

  test('has a key that scope narrows', async () => {
    const { one, outputs } = await done(trusted({ 'virtual-cluster': '', scope: 'virtualcluster:demo/other' }))
    const key = await readFile(outputs['key-file'] ?? '', 'utf8')
    const path = '/apis/management.platform/v1/namespaces/p-demo/virtualclusterinstances/demo'
    expect((await server.call(path, { token: key })).status).toBe(403)
    await one.post()
  })

  test('has the key as an output only if it asks for it', async () => {
    const { one, outputs, masks } = await done(trusted({ 'output-key': 'true', 'virtual-cluster': '' }))
    expect(outputs.key).toMatch(/^mpk_\w{49}$/)
    expect(masks).toContain(outputs.key)
    await one.post()
  })

  test('shows the warnings of the API, such as a shortened lifetime', async () => {
    const { one, warnings } = await done(trusted({ ttl: '2h' }))
    expect(warnings).toEqual([expect.stringMatching(/shortened/)])
    await one.post()
  })
})

describe('a step with a key', () => {
  test('masks it first, and leaves it valid', async () => {
    const { name, key } = await createKey({ projects: [{ project: 'demo' }] })
    const { one, raw, masks } = await done(trusted({ key: ` ${key}\n`, credential: '' }), {})
    expect(raw.startsWith(`::add-mask::${key}\n`)).toBe(true)
    expect(masks[0]).toBe(key)
    const { raw: printed } = await expectDone(one.post())
    expect([printed, await selves(key)]).toEqual(['', 201])
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
  })

  // threat: jobs-1
  test('masks it before it reports a wrong input', async () => {
    const { key } = await createKey({ projects: [{ project: 'demo' }] })
    const one = await step({ key, url: `https://${key}@example.com`, credential: server.credential })
    const { raw, errors } = await one.main()
    expect(raw.startsWith(`::add-mask::${key}\n`)).toBe(true)
    expect(errors).toEqual(['url must have no user, query or fragment'])
  })

  test('says what the scope does not allow, and the entry that would', async () => {
    const { key } = await createKey({ projects: [{ project: 'other' }] })
    const one = await step(trusted({ key, credential: '' }), {})
    const error = await expectFailed(one.main())
    expect(error).toMatch(/^the request for a kube config of virtual cluster demo\/demo failed: 403 .* spec\.scope/)
    expect(error).toMatch(/would allow it/)
    await one.post()
  })

  test('says that it is no longer valid', async () => {
    const { name, key } = await createKey({ projects: [{ project: 'demo' }] })
    await server.call(`${keys}/${name}`, { method: 'DELETE' })
    for (const target of ['demo/demo', '']) {
      const one = await step(trusted({ key, credential: '', 'virtual-cluster': target }), {})
      expect(await expectFailed(one.main())).toMatch(/failed: 401 .*\nThe access key is no longer valid/)
      await one.post()
    }
  })

  test('gets a token of a connected cluster', async () => {
    const { key } = await createKey({ clusters: [{ cluster: 'west' }] })
    const inputs = { cluster: 'west', server: 'https://west.example:6443/', 'server-certificate-authority': 'ca.crt' }
    const { one, outputs, masks } = await done(
      trusted({ key, credential: '', 'virtual-cluster': '', ...inputs, ttl: '10m' }),
      {},
    )
    const config = JSON.parse(await readFile(outputs.kubeconfig ?? '', 'utf8'))
    expect(config.clusters[0].cluster.server).toBe('https://west.example:6443')
    const authority = Buffer.from(config.clusters[0].cluster['certificate-authority-data'], 'base64').toString()
    expect(authority).toBe(`${server.certificateAuthority.trim()}\n${front.certificateAuthority.trim()}\n`)
    expect(masks).toContain(config.users[0].user.token)
    const { iat, exp } = JSON.parse(Buffer.from(config.users[0].user.token.split('.')[1], 'base64url').toString())
    expect([exp - iat, Date.parse(outputs.expires ?? '')]).toEqual([600, exp * 1000])
    await one.post()
  })
})

describe('a connected cluster with an object', () => {
  const address = { server: 'https://east.example:6443', access: [{ verbs: ['get', 'use'], users: ['alice'] }] }
  /** The inputs of a job with a key for `east`, whose object says who may use it. */
  async function job(spec: object = {}, more: Record<string, string> = {}) {
    const certificateAuthorityData = Buffer.from(front.certificateAuthority).toString('base64')
    await server.call(`${clusters}/east`, { method: 'DELETE' })
    await server.call(clusters, {
      method: 'POST',
      body: cluster('east', { ...address, certificateAuthorityData, ...spec }),
    })
    const { key } = await createKey({ clusters: [{ cluster: 'east' }] })
    return { ...fronted()[0], key, credential: '', 'virtual-cluster': '', cluster: 'east', ...more }
  }
  const where = {
    server: address.server,
    'certificate-authority-data': expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
  }

  test('needs its name only, in one request', async () => {
    const { one, outputs, masks, shown } = await done(await job({}, { ttl: '10m' }), {})
    const config = await parseYaml(await readFile(outputs.kubeconfig ?? '', 'utf8'))
    expect(config.clusters[0].cluster).toEqual(where)
    const { token } = config.users[0].user
    expect(masks).toContain(token)
    const { iat, exp } = JSON.parse(Buffer.from(token.split('.')[1], 'base64url').toString())
    expect([exp - iat, Date.parse(outputs.expires ?? '')]).toEqual([600, exp * 1000])
    expect(front.seen).toEqual([expect.stringMatching(/\/clusters\/east\/kubeconfig$/)])
    expect(shown).toMatch(/^The kube config of cluster east is valid until /m)
    await one.post()
  })

  test('has a kube config that renews its token', async () => {
    const network = { proxyURL: 'socks5://proxy.example.com:1080', tlsServerName: 'east.internal' }
    const { one, outputs, folder } = await done(await job(network, { renew: 'true' }), {})
    const config = await parseYaml(await readFile(outputs.kubeconfig ?? '', 'utf8'))
    const written = { 'proxy-url': network.proxyURL, 'tls-server-name': network.tlsServerName }
    expect(config.clusters[0].cluster).toEqual({ ...where, ...written })
    expect(config.users[0].user.exec.args.at(-1)).toBe(folder)
    const printed: string[] = []
    const streams = { out: (text: string) => void printed.push(text), err: () => {} }
    expect([await runPlugin(folder, {}, streams), printed.join('')]).toEqual([
      0,
      expect.stringContaining('"token":"eyJ'),
    ])
    await one.post()
  })

  test.each([
    ['false', 'the request for a kube config of cluster east failed: 403 '],
    ['true', 'the access key may see cluster east, but not use it'],
  ])('is refused to who may only see it, with renew: %s', async (renew, message) => {
    const seen = { access: [{ verbs: ['get'], users: ['alice'] }] }
    expect(await failed(await job(seen, { renew }), {})).toContain(message)
  })

  test.each(['false', 'true'])('is not there, with renew: %s', async (renew) => {
    const { key } = await createKey({ clusters: [{ cluster: 'nowhere' }] })
    const inputs = { ...(await job()), key, cluster: 'nowhere', renew }
    expect(await failed(inputs, {})).toMatch(/of cluster nowhere failed: 404 .*"nowhere" not found/)
  })
})

test('a virtual cluster is in the namespace that begins as the server says', async () => {
  const self = { code: 201, body: JSON.stringify({ kind: 'Self', status: { projectNamespacePrefix: 'team-' } }) }
  const refused = { code: 404, body: JSON.stringify({ kind: 'Status', message: 'not there' }) }
  front.fault = (path) => (path.endsWith('/selves') ? self : path.endsWith('/kubeconfig') ? refused : undefined)
  expect(await failed(...fronted({ ttl: '10m' }))).toContain('not there')
  expect(front.seen.at(-1)).toMatch(/\/namespaces\/team-demo\/virtualclusterinstances\/demo\/kubeconfig$/)
})

const exchanges = () => front.seen.filter((path) => path.endsWith('/oauth2/token')).length
const idTokens = () => front.seen.filter((path) => path.startsWith('/github')).length

describe('a step that is refused says why', () => {
  test('without the permission for ID tokens', async () => {
    const error = await failed(trusted(), {})
    expect(error).toContain('permissions:\n  id-token: write')
    expect(error).toContain('a pull request of a fork')
  })

  test('when a claim of the job is not accepted', async () => {
    const [inputs, env] = fronted()
    const ACTIONS_ID_TOKEN_REQUEST_URL = `${env.ACTIONS_ID_TOKEN_REQUEST_URL}&environment=staging`
    const one = await step(inputs, { ...env, ACTIONS_ID_TOKEN_REQUEST_URL })
    expect(await expectFailed(one.main())).toContain(
      "400 claim environment is 'staging', which this client_id does not accept",
    )
    // A refused exchange is never repeated.
    expect([exchanges(), idTokens()]).toEqual([1, 1])
    await expectDone(one.post())
  })

  test.each([
    ['has no stage', (url: string) => url.replace('/prod/', '/')],
    ['ends at the stage', (url: string) => url.replace(/\/kubernetes.*/, '')],
  ])('when the URL %s', async (_, wrong) => {
    const one = await step(trusted({ url: wrong(server.url) }))
    expect(await expectFailed(one.main())).toContain(
      'the stage or the path in url is wrong. It is the whole URL of the API, with its stage if there is one: https://HOST/STAGE/kubernetes/management',
    )
  })

  // threat: jobs-6
  test('when the certificate is not trusted', async () => {
    const careless = { ...server.idTokenVariables, NODE_TLS_REJECT_UNAUTHORIZED: '0' }
    const { ended } = await (await step(trusted({ 'certificate-authority': '' }), careless)).begin('main')
    expect(await expectFailed(ended)).toMatch(
      /not signed by an authority that this machine trusts\. .*certificate-authority$/,
    )
  })

  test('when the server is not an API of this kind', async () => {
    fail('oauth2', { code: 404, body: '<html>::error::x' })
    const one = await step(...fronted())
    expect(await expectFailed(one.main())).toMatch(/answered 404, but not as this API does\. url must be the URL/)
    fail('oauth2', { code: 200, body: '{"access_token":"a b","expires_in":9}' })
    expect(await failed(...fronted({ 'virtual-cluster': '' }))).toContain('answered without an access key')
  })

  // threat: jobs-6
  test('when the API redirects, and sends the token to nobody else', async () => {
    fail('oauth2', { code: 307, headers: { location: 'https://elsewhere.example/' } })
    const error = await failed(...fronted())
    expect(error).toContain('redirects to https://elsewhere.example/')
  })

  // threat: jobs-2
  test('in text that is neither a command nor a control sequence', async () => {
    const hostile = '\u001b[2J\r\n::set-output name=x::y\n::add-mask::a\n##[error]x %0A::warning::w'
    const body = JSON.stringify({ error: 'invalid_request', error_description: hostile })
    fail('oauth2', { code: 400, body })
    const { raw, masks, warnings, errors } = await (await step(...fronted())).main()
    expect([masks.length, warnings, errors.length]).toEqual([1, [], 1])
    expect(raw.split('\n').filter((line) => /^\s*::/.test(line))).toHaveLength(2)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(raw).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
  })
})

describe('a step on a bad network', () => {
  test.each<[string, 'reset' | { code: number; headers?: Record<string, string> }]>([
    ['a lost connection', 'reset'],
    ['a 503', BUSY],
    ['a 429', { code: 429, headers: { 'retry-after': '0' } }],
  ])('repeats an exchange after %s, with a new ID token', async (_, fault) => {
    let left = 1
    front.fault = (path) => (path.includes('oauth2/token') && left-- > 0 ? fault : undefined)
    const { one, masks, outputs } = await done(...fronted())
    expect([exchanges(), idTokens()]).toEqual([2, 2])
    // Two ID tokens and a token.
    expect(new Set(masks).size).toBe(3)
    await expectDone(one.post())
    expect(existsSync(outputs.kubeconfig ?? '')).toBe(false)
  })

  test.each(['true', 'false'])('asks for no longer token than a slow API can give (renew: %s)', async (renew) => {
    const start = Date.now()
    let late = 0
    // Only the slow answers take time, however long this machine computes.
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    onTestFinished(async () => {
      vi.useRealTimers()
      await server.setClock(new Date())
    })
    const after = () => server.stopClock(new Date(start + ++late * 4000))
    await server.stopClock(new Date(start))
    fail('/apis/', { after })
    const one = await step(...fronted({ renew, 'output-key': 'true' }))
    expect((await expectDone(one.main())).warnings).toEqual([])
    expect(late).toBeGreaterThan(0)
    await expectDone(one.post())
  })

  test('gives up after six attempts', async () => {
    fail('/github', { code: 500, headers: { 'retry-after': '0' } })
    const error = await failed(...fronted())
    expect([error, idTokens()]).toEqual(['GitHub answered 500 to the request for an ID token of this job', 6])
  })

  // threat: jobs-4
  test('revokes its key after it was killed before it had a kube config', async () => {
    const { promise: hangs, resolve: reached } = Promise.withResolvers<void>()
    front.fault = (path) => {
      if (!path.endsWith('/kubeconfig')) return undefined
      reached()
      return 'hang'
    }
    const one = await step(...fronted({ 'output-key': 'true' }))
    const running = await one.begin('main')
    await hangs
    const folder = (await one.state()).STATE_folder ?? ''
    const key = await readFile(join(folder, 'key'), 'utf8')
    expect(await selves(key)).toBe(201)
    running.process.kill('SIGKILL')
    expect((await running.ended).code).toBe(null)
    await expectDone(one.post())
    expect([await selves(key), existsSync(folder)]).toEqual([401, false])
  })

  test.each<[string, string, string, string[]]>([
    ['a revocation', '{"revoked":true}', 'The credential of this job is revoked.', []],
    ['one that came too late', '', 'The credential of this job had ended before.', []],
    [
      'one that a cluster has not confirmed',
      '{"revoked":true,"unconfirmed":["eu"]}',
      '',
      [
        'The credential of this job is revoked, but not every cluster has confirmed it (eu): it may work there until it expires.',
      ],
    ],
  ])('says what has become of its credential after %s', async (_, body, shown, warned) => {
    const { one } = await done(...fronted())
    fail('oauth2/revoke', { code: 200, headers: { 'content-type': 'application/json' }, body })
    const { shown: log, warnings } = await one.post()
    expect([log.includes('is revoked.'), log.includes(shown), warnings]).toEqual([
      body.endsWith(':true}'),
      true,
      warned,
    ])
  })

  // threat: jobs-4
  test('removes its files even if the key cannot be revoked, and warns', async () => {
    const { one, outputs } = await done(...fronted())
    fail('oauth2/revoke', BUSY)
    const { code, warnings } = await one.post()
    expect(front.seen.filter((path) => path.endsWith('oauth2/revoke'))).toHaveLength(6)
    const left = [expect.stringMatching(/^The credential of this job is not revoked, and ends by itself: /)]
    expect([code, warnings, existsSync(outputs.kubeconfig ?? '')]).toEqual([0, left, false])
  })
})

describe('a step with a path', () => {
  test('writes there and makes folders, and post removes the file only', async () => {
    const path = join(runner.folder, 'new', 'folder', 'config')
    const { one, variables } = await done(trusted({ path: 'new/folder/config' }))
    expect([variables.KUBECONFIG, await mode(path)]).toEqual([path, '600'])
    await expectDone(one.post())
    expect(await readdir(join(runner.folder, 'new', 'folder'))).toEqual([])
  })

  // threat: jobs-5
  test('overwrites no file, no folder and nothing behind a symbolic link, and asks for no key', async () => {
    const there = (name: string) => join(runner.folder, name)
    await writeFile(there('mine'), 'mine')
    await mkdir(there('folder'))
    await symlink(there('mine'), there('link'))
    await symlink(there('nothing'), there('broken'))
    for (const name of ['mine', 'folder', 'link', 'broken']) {
      const [inputs, env] = fronted({ path: name })
      const one = await step(inputs, env)
      expect(await expectFailed(one.main())).toBe(
        `${there(name)} exists. This step overwrites no file: give another path, or remove the file first`,
      )
      await expectDone(one.post())
      expect((await lstat(there(name))).isSymbolicLink()).toBe(name === 'link' || name === 'broken')
    }
    const left = [await readFile(there('mine'), 'utf8'), existsSync(there('nothing')), front.seen]
    expect(left).toEqual(['mine', false, []])
  })

  // threat: jobs-5
  test('leaves what took the place of its file', async () => {
    const path = join(runner.folder, 'replaced')
    for (const replace of [
      () => writeFile(path, 'mine'),
      async () => {
        await writeFile(join(runner.folder, 'target'), 'mine')
        await symlink(join(runner.folder, 'target'), path)
      },
    ]) {
      const { one } = await done(trusted({ path }))
      await rm(path)
      await replace()
      const { warnings } = await expectDone(one.post())
      expect(warnings).toEqual([`${path} is not the file that this step has written, so it stays`])
      expect(await readFile(path, 'utf8')).toBe('mine')
      await rm(path)
    }
  })

  test('removes its file after it was changed in place, as kubectl does', async () => {
    const path = join(runner.folder, 'changed')
    const { one } = await done(trusted({ path }))
    await writeFile(path, 'changed')
    const { warnings } = await expectDone(one.post())
    expect([warnings, existsSync(path)]).toEqual([[], false])
  })
})

// threat: jobs-5
test('post leaves files of others in its folder, and follows no link that took the place of the folder', async () => {
  const { one, folder } = await done(trusted())
  await writeFile(join(folder, 'mine'), 'mine')
  const { warnings } = await expectDone(one.post())
  expect([warnings, await readdir(folder)]).toEqual([[expect.stringContaining('ENOTEMPTY')], ['mine']])
  await rm(folder, { recursive: true })
  const elsewhere = join(runner.folder, 'elsewhere')
  await mkdir(elsewhere)
  await writeFile(join(elsewhere, 'key'), 'mine')
  await symlink(elsewhere, folder)
  expect((await expectDone(one.post())).warnings).toEqual([
    `${folder} is not the folder that this step has made, so it stays`,
  ])
  expect(await readdir(elsewhere)).toEqual(['key'])
})

describeKubectl('kubectl', () => {
  /** Runs kubectl as a later step of the job. */
  const kubectlOf = async (result: StepResult): Promise<Kubectl> =>
    createKubectl(await readFile(result.variables.KUBECONFIG ?? '', 'utf8'))

  test('lists the pods of the virtual cluster', async () => {
    const one = await step(trusted())
    const kubectl = await kubectlOf(await expectDone(one.main()))
    expect(await kubectl.run('get', 'pods')).toMatchObject({ code: 0, stdout: expect.stringContaining('Running') })
    await Promise.all([kubectl.stop(), one.post()])
  })

  test('talks to the management API if the step names no cluster', async () => {
    const one = await step(trusted({ 'virtual-cluster': '' }))
    const kubectl = await kubectlOf(await expectDone(one.main()))
    expect(await kubectl.run('auth', 'whoami')).toMatchObject({ code: 0, stdout: expect.stringContaining('alice') })
    await Promise.all([kubectl.stop(), one.post()])
  })

  test('gets the tokens of a step with renew from its plugin', async () => {
    const one = await step(trusted({ renew: 'true' }))
    const { ended } = await one.begin('main')
    const kubectl = await kubectlOf(await expectDone(ended))
    const ran = await kubectl.runWith(server.idTokenVariables, 'get', 'pods')
    expect(ran).toEqual({ code: 0, stderr: '', stdout: expect.stringContaining('Running') })
    await Promise.all([kubectl.stop(), one.post()])
  })
})

describe('a step with renew', () => {
  /** Moves the times of what the step holds, so that a token or a key is about to expire or has expired. */
  async function age(folder: string, change: (held: Record<string, { from: number; until: number }>) => void) {
    const file = join(folder, 'credential.json')
    const held = JSON.parse(await readFile(file, 'utf8'))
    change(held)
    await writeFile(file, JSON.stringify(held))
  }
  const OLD = () => ({ from: Date.now() - 10_000_000, until: Date.now() + 1_800_000 })
  const GONE = () => ({ from: Date.now() - 10_000_000, until: Date.now() - 1000 })
  const readKeys = async (folder: string) => (await readFile(join(folder, 'exchanged'), 'utf8')).trim().split('\n')
  /** Runs the plugin in this process, as kubectl does. Returns its token if it has one. */
  async function plugin(folder: string, env: NodeJS.ProcessEnv = server.idTokenVariables) {
    const said = { out: '', err: '' }
    const code = await runPlugin(folder, env, {
      out: (text) => void Object.assign(said, { out: said.out + text }),
      err: (text) => void Object.assign(said, { err: said.err + text }),
    })
    const { status } = said.out === '' ? {} : JSON.parse(said.out)
    return { code, err: said.err, token: status?.token, expires: status?.expirationTimestamp }
  }
  const works = {
    code: 0,
    err: '',
    token: expect.stringMatching(/^eyJ/),
    expires: expect.toSatisfy((time: string) => Date.parse(time) > Date.now()),
  }

  test('gets new tokens by exchanges while the job runs, and post revokes all of them', async () => {
    const [inputs, env] = fronted({ renew: 'true' })
    const before = await exchangedKeys()
    const { one, folder, outputs } = await done(inputs, env)
    expect(Object.keys(outputs)).toEqual(['kubeconfig'])
    const first = await plugin(folder, env)
    expect([first, await plugin(folder, env), exchanges()]).toEqual([works, first, 1])

    await age(folder, (held) => Object.assign(held, { tokenLife: GONE() }))
    // Many programs at once cause one exchange.
    const all = await Promise.all(Array.from({ length: 5 }, () => plugin(folder, env)))
    expect(all).toEqual(all.map(() => ({ ...works, token: all[0]?.token })))
    expect([all[0]?.token === first.token, exchanges(), existsSync(join(folder, 'key'))]).toEqual([false, 2, false])
    expect(await readKeys(folder)).toEqual([first.token, all[0]?.token])
    expect((await exchangedKeys()).length - before.length).toBe(2)

    await expectDone(one.post())
    expect([await exchangedKeys(), existsSync(folder)]).toEqual([before, false])
  })

  test('uses the last token of an exchange while the API cannot be reached, and none when it refuses', async () => {
    const [inputs, env] = fronted({ renew: 'true' })
    const { one, folder } = await done(inputs, env)
    await age(folder, (held) => Object.assign(held, { tokenLife: OLD() }))
    fail('/oauth2/token', BUSY)
    const degraded = await plugin(folder, env)
    expect(degraded).toEqual({ ...works, err: expect.stringContaining('The last credential is used until it expires') })
    fail('/oauth2/token', { code: 400, body: JSON.stringify({ error: 'invalid_target', error_description: 'gone' }) })
    const refused = await plugin(folder, env)
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/keyplane: .* failed: 400 gone/)])
    await one.post()
  })

  // threat: jobs-4
  test('gets new tokens and keys while the job runs, and post revokes all of them', async () => {
    const { one, ...result } = await done(trusted({ renew: 'true', 'output-key': 'true', 'exec-api': 'v1beta1' }))
    expect(result.shown).toContain('is renewed while the job runs')
    expect(Object.keys(result.outputs)).toEqual(['kubeconfig', 'key-file', 'key'])
    const config = await readFile(result.variables.KUBECONFIG ?? '', 'utf8')
    expect(config).not.toMatch(SECRET)
    const { exec } = (await parseYaml(config)).users[0].user
    expect(exec.apiVersion).toBe('client.authentication.k8s.io/v1beta1')
    const folder = (await one.state()).STATE_folder ?? ''
    const first = await plugin(folder)
    expect([first, await plugin(folder)]).toEqual([works, first])
    expect(await readKeys(folder)).toHaveLength(1)

    await age(folder, (held) => Object.assign(held, { tokenLife: GONE(), keyLife: OLD() }))
    // Many programs at once cause one exchange.
    const all = await Promise.all(Array.from({ length: 5 }, () => plugin(folder)))
    expect(all).toEqual(all.map(() => ({ ...works, token: all[0]?.token })))
    expect(all[0]?.token).not.toBe(first.token)
    const made = await readKeys(folder)
    expect([made.length, new Set(made).size]).toEqual([2, 2])
    expect([await readFile(join(folder, 'key'), 'utf8'), await mode(join(folder, 'key'))]).toEqual([made[1], '600'])

    await expectDone(one.post())
    expect(await Promise.all(made.map(selves))).toEqual([401, 401])
    expect(existsSync(folder)).toBe(false)
  })

  test('shows a warning of the server once, not with each renewal', async () => {
    const { one, folder, warnings } = await done(trusted({ renew: 'true', ttl: '2h' }))
    expect(warnings).toEqual([expect.stringMatching(/shortened/)])
    await age(folder, (held) => Object.assign(held, { tokenLife: GONE() }))
    expect(await plugin(folder)).toEqual(works)
    await one.post()
  })

  test('uses the last token while the API cannot be reached, and none when it refuses', async () => {
    const [inputs, env] = fronted({ renew: 'true', 'output-key': 'true' })
    const { one, folder } = await done(inputs, env)
    await age(folder, (held) => Object.assign(held, { tokenLife: OLD() }))
    fail('/apis/', BUSY)
    const degraded = await plugin(folder, env)
    expect(degraded).toEqual({ ...works, err: expect.stringContaining('The last credential is used until it expires') })
    front.fault = () => undefined
    for (const key of await readKeys(folder)) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      await server.call('/oauth2/revoke', { method: 'POST', token: '', body: `token=${key}`, headers })
    }
    const refused = await plugin(folder, env)
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/keyplane: .* failed: 401/)])
    await one.post()
  })

  test('uses the last key while the exchange fails', async () => {
    const [inputs, env] = fronted({ renew: 'true', 'output-key': 'true' })
    const { one, folder } = await done(inputs, env)
    await age(folder, (held) => Object.assign(held, { tokenLife: GONE(), keyLife: OLD() }))
    fail('/oauth2/token', BUSY)
    const degraded = await plugin(folder, env)
    expect(degraded).toEqual({ ...works, err: expect.stringContaining('The last credential is used') })
    expect(await readKeys(folder)).toHaveLength(1)
    await one.post()
  })

  test('continues after a plugin was killed while it held the lock', async () => {
    const { one, folder } = await done(trusted({ renew: 'true' }))
    await age(folder, (held) => Object.assign(held, { tokenLife: GONE() }))
    await leaveLock(join(folder, 'lock'))
    expect(await plugin(folder)).toEqual(works)
    expect(existsSync(join(folder, 'lock'))).toBe(false)
    await one.post()
  })

  test('works for the management API too, and says what is missing after the job', async () => {
    const { one, folder } = await done(trusted({ renew: 'true', 'virtual-cluster': '' }))
    expect(await plugin(folder)).toMatchObject({ code: 0, token: await readFile(join(folder, 'key'), 'utf8') })
    const asked = (version: string) => JSON.stringify({ apiVersion: `client.authentication.k8s.io/${version}` })
    const said: string[] = []
    const say = (text: string) => void said.push(text)
    await runPlugin(folder, { KUBERNETES_EXEC_INFO: asked('v1beta1') }, { out: say, err: say })
    await runPlugin(folder, { KUBERNETES_EXEC_INFO: asked('v1alpha1') }, { out: say, err: say })
    expect(said).toEqual([
      expect.stringContaining('"apiVersion":"client.authentication.k8s.io/v1beta1"'),
      expect.stringContaining('the kube config must ask for client.authentication.k8s.io/v1 or'),
    ])
    await age(folder, (held) => Object.assign(held, { keyLife: GONE() }))
    const outside = await plugin(folder, {})
    expect([outside.code, outside.err]).toEqual([1, expect.stringContaining('this job has no ID token')])
    await one.post()
  })
})

test('a step behind a proxy reaches the API through it', async () => {
  const tunnels: string[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '')
    const { hostname, port } = new URL(`https://${request.url}`)
    const upstream = connect(Number(port), hostname, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    socket.on('error', () => upstream.destroy()).pipe(upstream)
    upstream.on('error', () => socket.destroy()).pipe(socket)
  })
  const { url } = await listening(proxy)
  const one = await step(trusted(), { ...server.idTokenVariables, https_proxy: url })
  const { ended } = await one.begin('main')
  await expectDone(ended)
  const [first, ...others] = tunnels
  expect(first).toBe(new URL(server.idTokenVariables.ACTIONS_ID_TOKEN_REQUEST_URL).host)
  expect(new Set(others)).toEqual(new Set([new URL(server.url).host]))
  await expectDone(one.post())
  proxy.close()
})

test('the plugin says in one line why it has no credential', async () => {
  const child = spawn(process.execPath, [join(actionFolder, 'dist/credential.js'), '/nowhere'])
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const [code] = await once(child, 'close')
  expect([code, printed]).toEqual([1, expect.stringMatching(/^keyplane: .*\n$/)])
})
