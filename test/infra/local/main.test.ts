import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load } from 'js-yaml'
import { afterAll, describe, expect, test } from 'vitest'
import { makeAuthority, validFor } from '../../../infra/local/host/certificates.ts'
import { openStored } from '../../../infra/local/host/stored.ts'
import { createApiClient } from '../../../infra/local/virtualcluster/apiclient.ts'
import { listenersOf, openTo } from '../../support/listeners.ts'
import { listening } from '../../support/listening.ts'

const main = join(import.meta.dirname, '../../../infra/local/main.ts')
const children: ChildProcess[] = []

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
})

const { PATH, NODE_COMPILE_CACHE } = process.env
/** The environment of a server. Servers share the compile cache of the tests. */
const plain = { PATH, PORT: '0', ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) }

const newFolder = () => mkdtemp(join(tmpdir(), 'keyplane-test-'))

/** Starts the server as npm does, below a shell that is what the test may end. */
const startByNpm = (environment: Record<string, string>) =>
  start(
    { npm_lifecycle_event: 'start', NODE: process.execPath, MAIN: main, ...environment },
    'sh',
    '-c',
    '"$NODE" "$MAIN"; true',
  )

function start(environment: Record<string, string>, ...args: string[]) {
  const [program = '', ...rest] = args[0] === 'sh' ? args : [process.execPath, main, ...args]
  const child = spawn(program, rest, { env: { ...plain, ...environment } })
  children.push(child)
  const output = { stdout: '', stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output.stderr += chunk
  })
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output.stdout += chunk
      if (output.stdout.includes('Press Ctrl-C to stop.')) resolve()
    })
    child.once('close', (code) => reject(new Error(`ended with ${code}: ${output.stderr}`)))
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  ready.catch(() => {})
  return { child, output, ready, ended }
}

/** A client of a server that is ready, with its first access key or another one. */
async function clientOf(folder: string, stdout: string, key?: string) {
  const [, url = ''] = /^keyplane serves (\S+)$/m.exec(stdout) ?? []
  const authority = await readFile(join(folder, 'ca.crt'), 'utf8')
  const client = createApiClient(authority, key ?? (await readFile(join(folder, 'access-key'), 'utf8')))
  const api = `${url}/apis/management.platform/v1`
  return {
    url,
    send: client.send,
    get: (path: string) => client.send('GET', `${api}${path}`),
    async disable(path: string) {
      const { body } = await client.send('GET', `${api}${path}`)
      const key = body as { spec: object }
      return client.send('PUT', `${api}${path}`, { ...key, spec: { ...key.spec, disabled: true } })
    },
    post: (path: string, kind: string, rest: object) =>
      client.send('POST', `${api}${path}`, { apiVersion: 'management.platform/v1', kind, ...rest }),
  }
}

const mode = async (...path: string[]) => (await stat(join(...path))).mode & 0o777

/** Waits for an event about the key. No event has the first access key. */
async function hasEvent(folder: string, kind: string, name: string): Promise<void> {
  for (;;) {
    const text = await readFile(join(folder, 'events.jsonl'), 'utf8')
    const events = text.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : []))
    expect(text).not.toContain(await readFile(join(folder, 'access-key'), 'utf8'))
    if (events.some(({ type, data }) => type.includes(`.${kind}.`) && data.name.includes(name))) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0
/** Limits the size of the files that a process writes, as a quota and a full disk do. */
const limitFiles = ({ pid = 0 }: ChildProcess, bytes: string) =>
  expect(spawnSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:`]).status).toBe(0)

/** A full disk refuses writes and nothing else, and the server goes on once there is room. */
async function expectFullDisk(folder: string, child: ChildProcess, client: Awaited<ReturnType<typeof clientOf>>) {
  const make = (name: string) =>
    client.post('/ownedaccesskeys', 'OwnedAccessKey', { metadata: { name }, spec: { user: 'alice' } })
  limitFiles(child, '1')
  expect((await make('no-room')).body).toMatchObject({
    code: 507,
    message: 'the disk of the server is full: the write was not made',
  })
  expect((await client.get('/ownedaccesskeys')).status).toBe(200)
  limitFiles(child, 'unlimited')
  expect((await make('room')).status).toBe(201)
  await hasEvent(folder, 'created', 'room')
}

/** Leaves the authorities of a first start whose clock was ahead. */
async function makeAuthoritiesOfTomorrow(folder: string): Promise<void> {
  const authority = await makeAuthority('ahead', validFor(3650, Date.now() + 86_400_000))
  for (const name of ['ca.json', 'virtualcluster.json']) {
    const stored = await openStored<object>(join(folder, name), {})
    await stored.change((draft) => Object.assign(draft, { authority }))
  }
}

const demoPath = '/namespaces/p-demo/virtualclusterinstances/demo'
const kubeConfig = 'VirtualClusterInstanceKubeConfig'

/** The status of a list of pods with the token of a fetched kube config. */
async function podsWith({ body }: { body: unknown }): Promise<number> {
  const text = (body as { status: { kubeConfig: string } }).status.kubeConfig
  const { clusters, users } = load(text) as {
    clusters: { cluster: Record<string, string> }[]
    users: { user: Record<string, string> }[]
  }
  const { server, 'certificate-authority-data': authority = '' } = clusters[0]?.cluster ?? {}
  const client = createApiClient(Buffer.from(authority, 'base64').toString('utf8'), users[0]?.user.token)
  return (await client.send('GET', `${server}/api/v1/pods`)).status
}

/** Everything is below the stage, as API Gateway serves it without a custom domain. */
async function expectStage(folder: string, stdout: string, url: string): Promise<void> {
  expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/prod\/kubernetes\/management$/)
  const config = JSON.parse(await readFile(join(folder, 'kubeconfig'), 'utf8'))
  expect(config.clusters[0].cluster.server).toBe(url)
  const printed = stdout.match(/https:\S+/g) ?? []
  expect(printed.filter((one) => !one.startsWith(url))).toEqual([new URL('../console/', url).href])
  const plain = createApiClient(await readFile(join(folder, 'ca.crt'), 'utf8'))
  const { body } = await plain.send('GET', `${url}/.well-known/openid-configuration`)
  expect(body).toMatchObject({ issuer: url, jwks_uri: `${url}/openid/v1/jwks` })
  const outside = await plain.send('GET', `${url.replace('/prod', '')}/version`)
  expect([outside.status, outside.body]).toEqual([403, { message: 'Forbidden' }])
}

describe('npm start', () => {
  test('serves the API, keeps every acknowledged write across kill -9, moves to a stage, and exits cleanly', async () => {
    const DATA_DIR = join(await newFolder(), 'data')
    const first = start({ DATA_DIR })
    await first.ready
    expect(await mode(DATA_DIR)).toBe(0o700)
    expect(await mode(DATA_DIR, 'ca.crt')).toBe(0o644)
    for (const name of [
      'access-key',
      'kubeconfig',
      'job.env',
      'kms.json',
      'secrets.json',
      'ca.json',
      'table.db',
      'events.jsonl',
      'log.jsonl',
    ])
      expect([name, await mode(DATA_DIR, name)]).toEqual([name, 0o600])

    const client = await clientOf(DATA_DIR, first.output.stdout)
    await hasEvent(DATA_DIR, 'created', 'demo')
    expect(await readFile(join(DATA_DIR, 'log.jsonl'), 'utf8')).toMatch(/^\{"level":"info",.*"message":"audit"/m)
    const [, address = ''] = /^The console is at (\S+)$/m.exec(first.output.stdout) ?? []
    expect(address).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/console\/$/)
    const self = await client.post('/selves', 'Self', {})
    expect(self.body).toMatchObject({ status: { groups: ['system:masters', 'system:authenticated'] } })
    const demo = await client.get(demoPath)
    expect(demo.body).toMatchObject({ spec: { owner: { user: 'alice' } } })
    if (hasPrlimit) await expectFullDisk(DATA_DIR, first.child, client)

    const kept: string[] = []
    let killed = false
    const write = async (writer: number) => {
      for (let n = 0; !killed; n++) {
        const name = `key-${writer}-${n}`
        const made = await client
          .post('/ownedaccesskeys', 'OwnedAccessKey', { metadata: { name }, spec: { user: 'alice' } })
          .catch(() => undefined)
        if (made?.status === 201) kept.push(name)
        if (kept.length >= 20) killed = first.child.kill('SIGKILL') || killed
      }
    }
    await Promise.all([0, 1, 2].map(write))
    await first.ended

    const second = start({ DATA_DIR })
    await second.ready
    const again = await clientOf(DATA_DIR, second.output.stdout)
    const list = await again.get('/ownedaccesskeys')
    const names = (list.body as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name)
    expect(names).toEqual(expect.arrayContaining(kept))
    const [admin, ...more] = names.filter((name) => name.startsWith('admin-'))
    expect(more).toEqual([])
    const same = await again.get(demoPath)
    const uid = ({ body }: { body: unknown }) => (body as { metadata: { uid: string } }).metadata.uid
    expect(uid(same)).toBe(uid(demo))

    const config = await again.post(`${demoPath}/kubeconfig`, kubeConfig, {
      spec: { clientCert: true, certificateTTL: 3600 },
    })
    expect(config.body).toMatchObject({ status: { kubeConfig: expect.stringContaining('client-certificate-data') } })

    expect(await podsWith(await again.post(`${demoPath}/kubeconfig`, kubeConfig, {}))).toBe(200)
    const scoped = await again.post('/ownedaccesskeys', 'OwnedAccessKey', {
      metadata: { name: 'scoped' },
      spec: { user: 'alice', scope: { virtualClusters: [{ project: 'demo', virtualCluster: 'demo' }] } },
    })
    const scopedKey = (scoped.body as { spec: { key: string } }).spec.key
    const limited = await clientOf(DATA_DIR, second.output.stdout, scopedKey)
    const scopedConfig = await limited.post(`${demoPath}/kubeconfig`, kubeConfig, {})
    expect(await podsWith(scopedConfig)).toBe(200)
    expect((await again.disable('/ownedaccesskeys/scoped')).status).toBe(200)
    expect(await podsWith(scopedConfig)).toBe(403)

    const whose = await again.get('/ownedaccesskeys/vcluster-demo')
    expect(whose.body).toMatchObject({
      spec: { scope: { roles: [{ role: 'vcluster', virtualClusters: ['demo/demo'] }] } },
    })
    expect((await again.disable('/ownedaccesskeys/vcluster-demo')).status).toBe(200)
    expect(await podsWith(await again.post(`${demoPath}/kubeconfig`, kubeConfig, {}))).toBe(403)

    const revoked = await readFile(join(DATA_DIR, 'access-key'), 'latin1')
    expect((await again.disable(`/ownedaccesskeys/${admin}`)).status).toBe(200)
    second.child.kill('SIGTERM')
    expect([await second.ended, second.output.stderr]).toEqual([0, ''])

    await makeAuthoritiesOfTomorrow(DATA_DIR)
    // With other tokens, which name the issuer with the stage, but the same data.
    const third = startByNpm({ DATA_DIR, STAGE: 'prod' })
    await third.ready
    expect(third.output.stdout.match(/^The certificate authority .* is valid only from/gm)).toHaveLength(2)
    const last = await clientOf(DATA_DIR, third.output.stdout)
    await expectStage(DATA_DIR, third.output.stdout, last.url)
    expect((await last.get('/ownedaccesskeys')).status).toBe(200)
    expect((await (await clientOf(DATA_DIR, third.output.stdout, revoked)).get('/ownedaccesskeys')).status).toBe(401)
    // The demo cluster fetches the public keys, and asks for reviews, below the stage.
    const fetched = await last.post(`${demoPath}/kubeconfig`, kubeConfig, {})
    expect(await podsWith(fetched)).toBe(200)
    expect((await last.disable('/ownedaccesskeys/vcluster-demo')).status).toBe(200)
    expect(await podsWith(fetched)).toBe(403)
    // Its output ends with the server, which the signal to the shell does not reach.
    third.child.kill('SIGTERM')
    await third.ended
    expect(third.output.stderr).toBe('')
    const files = (await readdir(DATA_DIR, { recursive: true, withFileTypes: true })).filter((one) => one.isFile())
    const written = await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'latin1')))
    const key = await readFile(join(DATA_DIR, 'access-key'), 'latin1')
    expect(written.filter((content) => content.includes(key))).toHaveLength(2)
    expect(written.filter((content) => content.includes(scopedKey))).toEqual([])
  })

  // threat: local-1, local-2
  test('stores nothing with --memory, opens no port to other users of the machine, and has the settings that it is given', async () => {
    const DATA_DIR = join(await newFolder(), 'data')
    const server = start(
      { DATA_DIR, THROTTLE_BURST: '1', MAX_KEY_TTL_SECONDS: '3600' },
      '--memory',
      '--throttle-rate',
      '1',
    )
    await server.ready
    const [, ca = ''] = /--ca (\S+)\/ca\.crt/.exec(server.output.stdout) ?? []
    const client = await clientOf(ca, server.output.stdout)
    expect(await client.get('/ownedaccesskeys')).toMatchObject({
      status: 200,
      body: { items: { 0: { status: { expirationTimestamp: expect.any(String) } } } },
    })
    expect((await client.send('GET', new URL('../console/', client.url).href)).status).toBe(200)
    const all = await Promise.all(Array.from({ length: 50 }, () => client.get('/ownedaccesskeys')))
    expect(all.map(({ status }) => status)).toContain(429)
    if (process.platform === 'linux') {
      // The gateway listens on one port of 127.0.0.1 and ::1.
      const ports = [...new Set(await listenersOf(server.child.pid ?? 0))]
      // Gateway, demo virtual cluster and demo issuer. The services of AWS are in the process.
      expect(ports.length).toBe(3)
      expect((await Promise.all(ports.map(openTo))).flat()).toEqual([])
    }
    server.child.kill('SIGINT')
    expect(await server.ended).toBe(0)
    await expect(stat(ca)).rejects.toThrow('ENOENT')
    await expect(stat(DATA_DIR)).rejects.toThrow('ENOENT')
  })
})

/** Runs a command in a terminal, to which the standard input is typed. */
const inTerminal = ['-c', 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)', process.execPath, main]
const hasPython = spawnSync('python3', ['-c', 'import pty']).status === 0

test.skipIf(!hasPython)('in a terminal, prints one line per request and stops on Ctrl-C', async () => {
  const env = { ...plain, NO_COLOR: '1' }
  const child = spawn('python3', [...inTerminal, '--memory'], { env })
  children.push(child)
  const ended = once(child, 'exit')
  let shown = ''
  const until = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      const look = () => pattern.test(shown) && resolve()
      child.stdout.on('data', look)
      child.once('close', () => reject(new Error(`ended before ${pattern}: ${shown}`)))
      look()
    })
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    shown += chunk
  })
  await until(/Press Ctrl-C to stop\./)
  const [, url = ''] = /^keyplane serves (\S+)\r$/m.exec(shown) ?? []
  const [, folder = ''] = /--ca (\S+)\/ca\.crt/.exec(shown) ?? []
  await (await clientOf(folder, `keyplane serves ${url}\n`)).get('/ownedaccesskeys')
  await until(
    /^200 GET {4}\/kubernetes\/management\/apis\/management\.platform\/v1\/ownedaccesskeys {2}\d+ ms {2}admin \(admin-\w+\)\r$/m,
  )
  expect(shown).not.toContain('{"level"')
  child.stdin.write('\u0003')
  expect((await ended)[0]).toBe(0)
})

test('npm start ends at once and quietly with 130 when it is interrupted before it serves', async () => {
  const silent = createServer()
  const { url, stop } = await listening(silent)
  const server = start({ DATA_DIR: await newFolder() }, '--dynamodb', url)
  await once(silent, 'connection')
  server.child.kill('SIGINT')
  expect([await server.ended, server.output]).toEqual([130, { stdout: '', stderr: '' }])
  await stop()
})

test('npm start refuses a setting as npm run deploy does', async () => {
  const server = start({}, '--throttle-rate', '0')
  expect([await server.ended, server.output]).toEqual([
    2,
    {
      stdout: '',
      stderr: expect.stringMatching(
        /^the setting throttle-rate must be an integer from 1 to 10000\nusage: npm start .*\n$/,
      ),
    },
  ])
})

// The tests of its parts have the other sentences.
test('npm start exits with one sentence and code 1, as for a port in use', async () => {
  const { port, stop } = await listening(createServer())
  const PORT = String(port)
  const server = start({ PORT, DATA_DIR: await newFolder() })
  expect([await server.ended, server.output]).toEqual([
    1,
    {
      stdout: '',
      stderr: `Port ${PORT} of 127.0.0.1 is taken: stop what uses it, or name another one in PORT.\n`,
    },
  ])
  await stop()
})
