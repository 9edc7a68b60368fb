/** `keyplane credential` and the kube configs of `keyplane kubeconfig`, with kubectl against the demo virtual cluster. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DemoCluster, startDemoCluster } from '../../support/democluster.ts'
import { accessKey, keys } from '../../support/objects.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { type CommandLine, createCommandLine, nodes } from './commandline.ts'

let server: TestServer
let cluster: DemoCluster
let cli: CommandLine
let key: { name: string; value: string }
beforeAll(async () => {
  server = await startServer({}, { unthrottled: true })
  cluster = await startDemoCluster(server)
}, 120_000)
afterAll(async () => {
  await cluster?.close()
  await server?.stop()
})
let made = 0
beforeEach(async () => {
  key = await makeKey({ user: 'alice' })
  cli = await createCommandLine(server, key.value)
})
afterEach(() => cli.stop())

async function makeKey(spec: object): Promise<{ name: string; value: string }> {
  const { metadata, spec: stored } = await server.make(keys, accessKey(`cli-${++made}`, spec))
  return { name: metadata.name, value: stored.key }
}

/** Returns the kinds of credentials that the key has been given, by the audit records. */
const issued = (name = key.name): string[] =>
  server.log
    .map((line) => JSON.parse(line))
    .filter((one) => one.message === 'audit' && one.key === name && one.code === 201 && one.credential !== undefined)
    .map(({ credential }) => credential)

const patchKey = (spec: object) =>
  server.call(`${keys}/${key.name}`, {
    method: 'PATCH',
    body: { spec },
    headers: { 'content-type': 'application/merge-patch+json' },
  })

const vc = ['credential', '--virtual-cluster', 'demo/demo']
const status = (text: string) => JSON.parse(text).status
const cached = async () =>
  (await readdir(join(cli.home, '.cache', 'keyplane'))).filter((name) => name.endsWith('.json'))

describe.each(nodes)('on Node.js $version, the plugin', ({ path: node }) => {
  test('prints a token that all processes share', async () => {
    const ran = await Promise.all(Array.from({ length: 30 }, () => cli.run(vc, { node })))
    expect(ran.map(({ code, stderr }) => [code, stderr])).toEqual(ran.map(() => [0, '']))
    expect(new Set(ran.map(({ stdout }) => stdout)).size).toBe(1)
    expect(issued()).toEqual(['token'])
    const [{ stdout } = { stdout: '' }] = ran
    expect(JSON.parse(stdout)).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { expirationTimestamp: expect.any(String), token: expect.stringMatching(/^eyJ/) },
    })
  })
})

describe('the plugin', () => {
  test('prints a token for a connected cluster', async () => {
    const { token } = status(await cli.ok(['credential', '--cluster', 'west']))
    expect(token).toMatch(/^eyJ/)
    expect(status(await cli.ok(['credential', '--cluster', 'west'])).token).toBe(token)
    expect(issued()).toEqual(['token'])
  })

  test('prints a client certificate, and keeps it with its key where only this user can read it', async () => {
    const args = [...vc, '--with', 'cert']
    const answer = await cli.ok(args)
    expect(status(answer)).toEqual({
      expirationTimestamp: expect.any(String),
      clientCertificateData: expect.stringMatching(/^-----BEGIN CERTIFICATE-----/),
      clientKeyData: expect.stringMatching(/^-----BEGIN (EC )?PRIVATE KEY-----/),
    })
    expect(await cli.ok(args)).toBe(answer)
    const [file = ''] = await cached()
    expect((await stat(join(cli.home, '.cache', 'keyplane', file))).mode & 0o777).toBe(0o600)
    expect(issued()).toEqual(['certificate'])
  })

  test('prints the access key for the management API, and keeps it nowhere', async () => {
    const config = await cli.write(
      'config.json',
      JSON.stringify({
        currentContext: 'a',
        contexts: { a: { server: server.base, key: key.value } },
      }),
    )
    const env = { KEYPLANE_CONFIG: config, KEYPLANE_URL: undefined }
    expect(status(await cli.ok(['credential'], { env }))).toEqual({ token: key.value })
    await expect(readdir(join(cli.home, '.cache'))).rejects.toThrow('ENOENT')
  })

  test('never keeps the access key with the tokens', async () => {
    await cli.ok(vc)
    const [file = ''] = await cached()
    expect(await readFile(join(cli.home, '.cache', 'keyplane', file), 'utf8')).not.toContain(key.value)
  })

  test('uses another cache file after the key has changed', async () => {
    const first = await cli.ok(vc)
    const other = await makeKey({ user: 'alice' })
    const second = await cli.ok(vc, { env: { KEYPLANE_KEY: other.value } })
    expect(second).not.toBe(first)
    expect(issued(other.name)).toEqual(['token'])
    expect(await cached()).toHaveLength(2)
  })

  test('never reads standard input', async () => {
    // The pipe stays open.
    const { code, stderr } = await cli.start(vc).ended
    expect([code, stderr]).toEqual([0, ''])
  })

  test.each([
    ['{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":true}}', 0, ''],
    ['', 0, ''],
    [
      '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{}}',
      1,
      'Error: The kube config asks for client.authentication.k8s.io/v1beta1, but this plugin answers client.authentication.k8s.io/v1 only.\n' +
        'Write "apiVersion: client.authentication.k8s.io/v1" below "exec" in the kube config.\n',
    ],
    ['{}', 1, expect.stringContaining('asks for another version')],
    ['null', 1, expect.stringContaining('asks for another version')],
    ['{', 1, expect.stringContaining('KUBERNETES_EXEC_INFO is not JSON')],
  ])('with KUBERNETES_EXEC_INFO=%s ends with %i', async (KUBERNETES_EXEC_INFO, code, stderr) => {
    const ran = await cli.run(vc, { env: { KUBERNETES_EXEC_INFO } })
    expect([ran.code, ran.stderr]).toEqual([code, stderr])
  })

  test('removes the cached token when the server refuses, and fails', async () => {
    await cli.ok([...vc, '--ttl', '10m'])
    const [file = ''] = await cached()
    const path = join(cli.home, '.cache', 'keyplane', file)
    // 9 of its 10 minutes are over.
    const entry = JSON.parse(await readFile(path, 'utf8'))
    await cli.write(join('.cache', 'keyplane', file), JSON.stringify({ ...entry, received: entry.received - 540_000 }))
    await patchKey({ disabled: true })
    const { code, stdout, stderr } = await cli.run([...vc, '--ttl', '10m'])
    expect([code, stdout, stderr]).toEqual([4, '', expect.stringContaining('access key is disabled')])
    expect(await cached()).toEqual([])
  })

  test('uses the old token while the server cannot be reached, and says so', async () => {
    const old = await cli.ok(vc)
    const [file = ''] = await cached()
    const entry = JSON.parse(await readFile(join(cli.home, '.cache', 'keyplane', file), 'utf8'))
    await cli.write(join('.cache', 'keyplane', file), JSON.stringify({ ...entry, received: entry.received - 780_000 }))
    const { code, stdout, stderr } = await cli.run(vc, {
      env: { KEYPLANE_CA: await cli.write('other.crt', cluster.certificateAuthority) },
    })
    expect([code, stdout]).toEqual([0, old])
    expect(stderr).toMatch(
      /^keyplane uses the credential in its cache, which lives until \S+Z: The certificate of 127\.0\.0\.1:\d+ /,
    )
  })

  test('thirty times at once without a server ends in thirty clear errors', async () => {
    const env = { KEYPLANE_URL: 'https://127.0.0.1:1/kubernetes/management' }
    const ran = await Promise.all(Array.from({ length: 30 }, () => cli.run(vc, { env })))
    for (const { code, stdout, stderr } of ran) {
      expect([code, stdout, stderr]).toEqual([
        1,
        '',
        expect.stringMatching(/^Error: Nothing listens at 127\.0\.0\.1:1\.\n/),
      ])
    }
  })

  test.each([
    [['--virtual-cluster', 'demo'], 'A virtual cluster is PROJECT/NAME, such as shop/dev, not "demo".'],
    [['--virtual-cluster', 'demo/../x'], 'A virtual cluster is PROJECT/NAME'],
    [['--cluster', 'a/b'], '"a/b" is not the name of a cluster.'],
    [['--cluster', 'a', '--virtual-cluster', 'a/b'], 'exclude each other'],
    [['--cluster', 'a', '--with', 'cert'], '--with cert needs --virtual-cluster'],
    [['--virtual-cluster', 'a/b', '--with', 'key'], '--with must be token or cert'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await cli.run(['credential', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
