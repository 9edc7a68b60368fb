/** Runs the kube configs of docs/clients.md and of examples/kubeconfig with kubectl and curl, against the demo virtual cluster. */

import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { deploymentName, entryNameOf } from '../../lib/clusters/deployment.ts'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { readPage } from '../support/commands.ts'
import { type DemoCluster, startDemoCluster } from '../support/democluster.ts'
import { objectsIn, readExample } from '../support/examples.ts'
import { yamlOf } from '../support/federationpages.ts'
import { createKubectl, describeKubectl } from '../support/kubectl.ts'
import { accessKey, keys } from '../support/objects.ts'
import { patience } from '../support/patience.ts'
import { type Ran, runProgram } from '../support/programs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { parseYaml } from '../support/yaml.ts'

const PAGE = 'docs/clients.md'
const page = await readPage(PAGE)
const text = await readFile(join(import.meta.dirname, '../..', PAGE), 'utf8')
const curlWay = await readExample('kubeconfig/curl.sh')
const fileWay = await readExample('kubeconfig/token-file.sh')

/** Returns the lines of the indented block after a sentence. */
function shownAfter(sentence: string): string[] {
  const [, block = ''] = text.split(`${sentence}\n\n`)
  return block.split('\n\n', 1).join().replaceAll(/^ {4}/gm, '').split('\n')
}

let server: TestServer
let cluster: DemoCluster
let folder: string
let home: string
let key: { name: string; value: string }
beforeAll(async () => {
  server = await startServer()
  cluster = await startDemoCluster(server)
  folder = await mkdtemp(join(tmpdir(), 'keyplane-kubeconfigs-'))
  await writeFile(join(folder, 'ca.crt'), server.certificateAuthority)
})
afterAll(async () => {
  await cluster?.close()
  await server?.stop()
  await rm(folder, { recursive: true, force: true })
})
/** Each test has a home and a key of its own. */
beforeEach(async () => {
  home = join(folder, randomBytes(4).toString('hex'))
  await mkdir(home)
  const { metadata, spec } = await server.make(
    keys,
    accessKey(`k-${randomBytes(4).toString('hex')}`, { user: 'alice' }),
  )
  key = { name: metadata.name, value: spec.key }
})

/** Runs commands of the page as a person does, with the certificate authority of this server. */
const run = (script: string, environment: Record<string, string> = {}): Promise<Ran> =>
  runProgram('bash', ['-e', '-o', 'pipefail', '-c', script], {
    cwd: home,
    env: {
      HOME: home,
      PATH: [process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter),
      KEYPLANE: server.base,
      KEY: key.value,
      CURL_CA_BUNDLE: join(folder, 'ca.crt'),
      ...environment,
    },
  })
const pods = { code: 0, stdout: expect.stringMatching(/^NAME .*\nhello-0 .* Running /), stderr: '' }
const inHome = (name: string): string => join(home, '.kube', name)
const read = (name: string): Promise<string> => readFile(inHome(name), 'utf8')
const modeOf = async (name: string): Promise<number> => (await stat(inHome(name))).mode & 0o777
const userOf = async (name: string) => (await parseYaml(await read(name))).users[0].user

/** Returns the commands for a connected cluster, with tokens that live as many seconds. */
async function connectedWay(seconds = 900): Promise<string> {
  const certificate = join(home, 'west-ca.crt')
  await writeFile(certificate, cluster.certificateAuthority)
  await mkdir(join(home, '.kube'), { recursive: true })
  return readExample('kubeconfig/connected-cluster.sh', {
    'https://west.example.com': cluster.url,
    ' west-ca.crt': ` ${certificate}`,
    ' 900,': ` ${seconds},`,
  })
}

/** Returns the audit records of the tokens that the key of this test got. */
const issued = () =>
  server.log
    .map((line) => JSON.parse(line))
    .filter(({ message, key: name, credential }) => message === 'audit' && name === key.name && credential === 'token')

const disable = () => server.patch(`${keys}/${key.name}`, { spec: { disabled: true } })

/** Starts one process of client-go that lasts: `kubectl proxy`. Returns a function that lists pods through it. */
async function startClient(name: string) {
  await appendFile(inHome(`${name}.curl`), `cacert = "${join(folder, 'ca.crt')}"\n`)
  const kubectl = await createKubectl(await read(name))
  const proxy = kubectl.start('proxy', '--port=0')
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(await proxy.until(/Starting to serve on .*\n/)) ?? []
  return {
    list: async () => (await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default/pods`)).status,
    async stop() {
      await proxy.end()
      await kubectl.stop()
    },
  }
}

test('the second form of a request is as the page shows it', async () => {
  const { code, stdout, stderr } = await run(page.commandsOf('Where a credential comes from', 0))
  expect([code, stderr]).toEqual([0, ''])
  const shown = shownAfter('This is the response:')
  expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys(JSON.parse(shown.join(''))))
  expect(stdout.split('\n')).toHaveLength(shown.length)
})

describeKubectl('curl as the plugin', () => {
  // threat: people-2
  test('lists pods with a kube config that contains no secret', async () => {
    expect(await run(curlWay)).toEqual(pods)
    expect(await modeOf('demo.curl')).toBe(0o600)
    const config = await read('demo')
    expect(config).not.toMatch(/mpk_|eyJ|token/)
    expect(await userOf('demo')).toEqual({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: 'curl',
        args: ['-q', '--proto', '=https', '--config', inHome('demo.curl')],
        interactiveMode: 'Never',
      },
    })
  })

  test('ends with no file if the key is not valid', async () => {
    const { code, stderr } = await run(curlWay, { KEY: 'wrong' })
    expect([code, stderr]).toEqual([1, expect.stringContaining('The requested URL returned error: 401')])
    await expect(read('demo')).rejects.toThrow('ENOENT')
  })

  test('shows in kubectl why a revoked key is refused, as the page does', async () => {
    await run(curlWay)
    await disable()
    const { code, stderr } = await run('kubectl --kubeconfig ~/.kube/demo get pods')
    expect(code).toBe(1)
    const shown = shownAfter('If the key was revoked, kubectl prints:')
    expect(shown).toHaveLength(2)
    expect(stderr.split('\n')).toEqual(expect.arrayContaining(shown))
    const asked = await run('curl -q --config ~/.kube/demo.curl --no-fail')
    expect(JSON.parse(asked.stdout).message).toContain('access key is disabled')
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    const deleted = await run('kubectl --kubeconfig ~/.kube/demo get pods')
    expect(deleted.stderr).toContain('The requested URL returned error: 401')
    expect(deleted.stderr).not.toContain('299')
  })

  test('is asked again by client-go after a 401, and not before', async () => {
    await run(curlWay)
    const before = issued().length
    const client = await startClient('demo')
    expect([await client.list(), await client.list(), issued().length - before]).toEqual([200, 200, 1])
    cluster.refuseSeenTokens()
    expect(await client.list()).toBe(401)
    await vi.waitFor(async () => expect(await client.list()).toBe(200), patience)
    expect(issued().length - before).toBe(2)
    await client.stop()
  })

  test('needs a key with the scope of the page, and no more', async () => {
    const [{ scope }] = await yamlOf(PAGE, 'Kube configs')
    const useKey = async (name: string, own: object) => {
      key = { name, value: (await server.make(keys, accessKey(name, { user: 'alice', scope: own }))).spec.key }
    }
    await useKey('scoped', scope)
    expect(await run(curlWay)).toEqual(pods)
    expect(await run(await connectedWay())).toEqual(pods)
    const { clusters, ...others } = scope
    await useKey('without-cluster', others)
    expect((await run(await connectedWay())).stderr).toContain(
      'spec.scope does not allow create of directclusterendpointtokens',
    )
    await useKey('without-instance', { clusters })
    expect((await run(curlWay)).stderr).toContain('The requested URL returned error: 403')
  })

  test('gets direct tokens for a connected cluster, which client-go renews when they expire', async () => {
    expect(await run(await connectedWay(3))).toEqual(pods)
    expect(await modeOf('west.curl')).toBe(0o600)
    const before = issued().length
    const client = await startClient('west')
    await vi.waitFor(
      async () => {
        const status = await client.list()
        expect([status, issued().length - before >= 3]).toEqual([200, true])
      },
      { ...patience, interval: 100 },
    )
    await client.stop()
  })
})

describeKubectl('keyplane as the plugin', () => {
  test('lists pods after a login, and keeps the token for the next command', async () => {
    const program = await installCommandLine(home)
    const commands = page.commandsOf('keyplane as the plugin', 0, {
      'https://keys.example.com/prod/kubernetes/management': server.base,
      '@keys.example.com/prod': `@${deploymentName(server.base)}`,
    })
    const environment = {
      KEYPLANE_KEY: key.value,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.crt'),
      PATH: [dirname(program), process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter),
    }
    const before = issued().length
    const { code, stdout } = await run(commands, environment)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^NAME .*\nhello-0 .* Running /m)])
    expect(await run(`kubectl --context ${entryNameOf('demo.p-demo', server.base)} get pods`, environment)).toEqual(
      pods,
    )
    expect(issued().length - before).toBe(1)
  })
})

describeKubectl('a token file', () => {
  test('lists pods without a plugin, and is renewed as a whole or not at all', async () => {
    await run(curlWay)
    expect(await run(`${fileWay}kubectl --kubeconfig ~/.kube/demo get pods`)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('hello-0'),
      stderr: '',
    })
    expect((await parseYaml(await read('demo'))).users).toEqual([
      { name: 'demo', user: { tokenFile: inHome('demo.token') } },
    ])
    expect(await modeOf('demo.token')).toBe(0o600)
    const first = await read('demo.token')
    const [, line = ''] = /^ {4}\*\/5 \* \* \* \* (.*)$/m.exec(text) ?? []
    expect(await run(line)).toMatchObject({ code: 0 })
    const second = await read('demo.token')
    expect([first, second]).toEqual(Array(2).fill(expect.stringMatching(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/)))
    expect(second).not.toBe(first)
    await disable()
    expect(await run(line)).toMatchObject({ code: 1, stderr: expect.stringContaining('access key is disabled') })
    expect(await read('demo.token')).toBe(second)
  })

  test('of an ExecCredential works with cat as the plugin of Argo CD', async () => {
    await run(`${curlWay}${await readExample('kubeconfig/argocd.sh')}`)
    const [{ execProviderConfig }] = await objectsIn('kubeconfig/argocd.yaml')
    const [path] = execProviderConfig.args
    const config = await parseYaml(await read('demo'))
    // As Argo CD makes it: util/kube and ClusterConfig of its API.
    const exec = { ...execProviderConfig, args: [path.replace('/var/run/keyplane', join(home, '.kube'))] }
    config.users[0].user = { exec: { ...exec, interactiveMode: 'Never' } }
    await writeFile(inHome('argo'), JSON.stringify(config))
    expect(await run('kubectl --kubeconfig ~/.kube/argo get pods')).toEqual(pods)
  })
})

describeKubectl('a static token', () => {
  test('lists pods, from a file that only its owner can read', async () => {
    expect(await run(await readExample('kubeconfig/static-token.sh'))).toEqual(pods)
    expect((await stat(join(home, 'demo.kubeconfig'))).mode & 0o777).toBe(0o600)
  })
})

// threat: logs-2
test('neither keys nor tokens are in the log', () =>
  expect(server.log.join('')).not.toMatch(/mpk_\w{40}|eyJ[\w-]+\.eyJ/))
