/** `keyplane credential` and the kube configs of `keyplane kubeconfig`, with kubectl against the demo virtual cluster. */
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Federation, provider, providers, startFederation } from '../../support/federation.ts'
import { clusters as clustersPath, cluster as connected } from '../../support/objects.ts'
import { parseYaml } from '../../support/yaml.ts'
import { useAlice } from './alice.ts'
import { says } from './commandline.ts'
import cases from './vectors/credential.cases.json' with { type: 'json' }

const { server, cluster, cli, key, makeKey, patchKey, issued } = useAlice()

const vc = ['credential', '--virtual-cluster', 'demo/demo']
const EXEC = 'client.authentication.k8s.io/v1'
/** Returns what a client passes to its plugin with this configuration of the cluster, or with this cluster. */
const infoOf = (json: string, member: 'config' | 'cluster' = 'config', apiVersion = EXEC) => {
  const cluster = member === 'cluster' ? json : `{"server":"https://evil.example.com","config":${json}}`
  return `{"kind":"ExecCredential","apiVersion":"${apiVersion}","spec":{"cluster":${cluster},"interactive":false}}`
}
const status = (text: string) => JSON.parse(text).status
const cached = async () =>
  (await readdir(join(cli.home, '.cache', 'keyplane'))).filter((name) => name.endsWith('.json'))

describe('the plugin', () => {
  test('prints a token, which all calls share', async () => {
    const [one = '', other] = await Promise.all([cli.ok(vc), cli.ok(vc)])
    expect([other, issued()]).toEqual([one, ['token']])
    expect(JSON.parse(one)).toEqual({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { expirationTimestamp: expect.any(String), token: expect.stringMatching(/^eyJ/) },
    })
  })

  // threat: plugin-7
  test('prints another one to a client that asks again, as after a 401, and to a person with --refresh', async () => {
    const asks = { env: { KUBERNETES_EXEC_INFO: infoOf('null') } }
    const [first, again, other] = [await cli.spawn(vc, asks), await cli.spawn(vc, asks), await cli.ok(vc)]
    expect(again.stdout).not.toBe(first.stdout)
    expect(other).toBe(again.stdout)
    const refreshed = await cli.ok([...vc, '--refresh'])
    expect([refreshed === other, await cli.ok(vc)]).toEqual([false, refreshed])
    expect(issued()).toEqual(['token', 'token', 'token'])
    expect(await cli.run(['credential', '--refresh'])).toMatchObject(says(2, '--refresh needs --virtual-cluster or'))
  })

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

  // threat: plugin-4
  test('prints the access key for the management API, and keeps it nowhere', async () => {
    const config = await cli.write(
      'config.json',
      JSON.stringify({ currentContext: 'a', contexts: { a: { server: server.base, key: key.value } } }),
    )
    const env = { KEYPLANE_CONFIG: config, KEYPLANE_URL: undefined }
    expect(status(await cli.ok(['credential'], { env }))).toEqual({ token: key.value })
    await expect(readdir(join(cli.home, '.cache'))).rejects.toThrow('ENOENT')
  })

  // threat: plugin-4
  test('never keeps the access key with the tokens', async () => {
    await cli.ok(vc)
    const [file = ''] = await cached()
    expect(await readFile(join(cli.home, '.cache', 'keyplane', file), 'utf8')).not.toContain(key.value)
  })

  // threat: plugin-2
  test('uses another cache file after the key has changed', async () => {
    const first = await cli.ok(vc)
    const other = await makeKey()
    const second = await cli.ok(vc, { env: { KEYPLANE_KEY: other.value } })
    expect(second).not.toBe(first)
    expect(issued(other.name)).toEqual(['token'])
    expect(await cached()).toHaveLength(2)
  })

  test('never reads standard input', async () => {
    // The pipe stays open.
    const { ended } = await cli.start(vc)
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })

  test.each([
    ['{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":{"interactive":true}}', 0, ''],
    ['', 0, ''],
    ['{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","spec":{}}', 0, ''],
    [
      '{"apiVersion":"client.authentication.k8s.io/v1alpha1","kind":"ExecCredential","spec":{}}',
      1,
      'Error: The kube config asks for client.authentication.k8s.io/v1alpha1, but this plugin answers client.authentication.k8s.io/v1 and client.authentication.k8s.io/v1beta1 only.\n' +
        'Write "apiVersion: client.authentication.k8s.io/v1" below "exec" in the kube config.\n',
    ],
    ['{}', 1, expect.stringContaining('asks for another version')],
    ['null', 1, expect.stringContaining('asks for another version')],
    ['{', 1, expect.stringContaining('KUBERNETES_EXEC_INFO is not JSON')],
    [`{"apiVersion":"${EXEC}","spec":7}`, 1, 'Error: spec in KUBERNETES_EXEC_INFO is not an object.\n'],
    [infoOf('"west"', 'cluster'), 1, 'Error: spec.cluster in KUBERNETES_EXEC_INFO is not an object.\n'],
  ])('with KUBERNETES_EXEC_INFO=%s ends with %i', async (KUBERNETES_EXEC_INFO, code, stderr) => {
    const ran = await cli.run(vc, { env: { KUBERNETES_EXEC_INFO } })
    expect([ran.code, ran.stderr]).toEqual([code, stderr])
    if (code === 0 && KUBERNETES_EXEC_INFO !== '')
      expect(JSON.parse(ran.stdout).apiVersion).toBe(JSON.parse(KUBERNETES_EXEC_INFO).apiVersion)
  })

  // threat: plugin-5
  test('removes the cached token when the server refuses, and fails', async () => {
    await cli.ok([...vc, '--ttl', '10m'])
    const [file = ''] = await cached()
    const path = join(cli.home, '.cache', 'keyplane', file)
    // 9 of its 10 minutes are over.
    const entry = JSON.parse(await readFile(path, 'utf8'))
    await cli.write(join('.cache', 'keyplane', file), JSON.stringify({ ...entry, received: entry.received - 540_000 }))
    await patchKey({ disabled: true })
    expect(await cli.run([...vc, '--ttl', '10m'])).toMatchObject(says(4, 'access key is disabled', ''))
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

  test.each(cases.refused as [string[], string][])('refuses %j', async (args, message) => {
    expect(await cli.run(['credential', ...args])).toMatchObject(says(2, message))
  })
})

describe('the configuration of the cluster that the client passes', () => {
  const configured = (config: string, args: readonly string[] = []) =>
    cli.run(['credential', ...args], { env: { KUBERNETES_EXEC_INFO: infoOf(config) } })

  test.each([
    ['{"cluster":"west"}', ['--cluster', 'west']],
    ['{"virtualCluster":"demo/demo"}', ['--virtual-cluster', 'demo/demo']],
    ['{"cluster":"constructor"}', ['--cluster', 'constructor']],
  ])('%s names the target as %j does, and may be repeated by it', async (config, args) => {
    const named = await cli.ok(['credential', ...args])
    for (const more of [[], args]) {
      expect(await configured(config, more)).toEqual({ code: 0, stdout: named, stderr: '' })
    }
    expect(issued()).toEqual(['token'])
  })

  test('is answered in the version of the client', async () => {
    const KUBERNETES_EXEC_INFO = infoOf('{"cluster":"west"}', 'config', `${EXEC}beta1`)
    expect(JSON.parse(await cli.ok(['credential'], { env: { KUBERNETES_EXEC_INFO } })).apiVersion).toBe(`${EXEC}beta1`)
  })

  test('may be missing when an option names the target', async () => {
    expect(await configured('null', ['--cluster', 'west'])).toMatchObject({ code: 0 })
  })

  // threat: plugin-2
  test('gives each target its own token, although all share the cache', async () => {
    const configs = ['{"cluster":"west"}', '{"cluster":"east"}', '{"virtualCluster":"demo/demo"}']
    const audiences = async () =>
      Promise.all(configs.map(async (one) => decodeJwt(status((await configured(one)).stdout).token).aud))
    const first = await audiences()
    expect(first).toEqual([
      [`${server.base}/clusters/west`],
      [`${server.base}/clusters/east`],
      [expect.stringMatching(`^${server.base}/virtualclusters/p-demo/demo/`)],
    ])
    expect([await audiences(), issued().length]).toEqual([first, 3])
  })

  // threat: plugin-3
  test.each(cases.configs as [string, string][])('%s is refused, and nothing is asked', async (config, message) => {
    const { code, stdout, stderr } = await configured(config)
    expect([code === 0, stdout, issued()]).toEqual([false, '', []])
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('\u001b')
  })

  // threat: plugin-3
  test.each([
    ['{"cluster":"west"}', ['--cluster', 'east']],
    ['{"cluster":"west"}', ['--virtual-cluster', 'demo/demo']],
    ['{"virtualCluster":"demo/demo"}', ['--cluster', 'west']],
    ['{"virtualCluster":"demo/demo"}', ['--virtual-cluster', 'demo/other']],
  ])('%s is refused with %j', async (config, args) => {
    expect(await configured(config, args)).toMatchObject(says(2, `names another cluster than ${args.join(' ')}.`, ''))
    expect(issued()).toEqual([])
  })

  test('is refused with certificates for a connected cluster', async () => {
    expect(await configured('{"cluster":"west"}', ['--with', 'cert'])).toMatchObject(says(2, 'needs --virtual-cluster'))
  })

  test.each([
    ['a name', `{"cluster":"${'a'.repeat(10_000_000)}"}`, 'has more than 1048576 characters'],
    [
      'many members',
      `{${Array.from({ length: 20_000 }, (_, i) => `"m${i}":1`).join()}}`,
      'exceeded max number of values',
    ],
    ['nesting', `{"cluster":${'['.repeat(5000)}`, 'exceeded max'],
    ['a long name', `{"cluster":"${'a'.repeat(300_000)}"}`, 'has a cluster that is not the name of one'],
    ['a long member', `{"${'a'.repeat(300_000)}":"west"}`, `has the unknown member "${'a'.repeat(100)}"`],
  ])('with %s without end is refused in a short message', async (_, config, message) => {
    const { code, stdout, stderr } = await configured(config)
    expect([code === 0, stdout, stderr.length < 500]).toEqual([false, '', true])
    expect(stderr).toContain(message)
  })
})

describe('an ID token', () => {
  let federation: Federation
  let once: string
  let lifetime: string
  const clusters = [{ cluster: 'west' }, { cluster: 'east' }]
  beforeAll(async () => {
    federation = await startFederation(server)
    once = await federation.trust('plugin-once', { scope: { clusters } })
    const { metadata: _, spec } = (await server.call(`${providers}/github`)).json
    await server.make(providers, provider('lasting', { ...spec, tokenUse: 'Lifetime' }))
    const own = { identityProvider: 'lasting', scope: { clusters }, tokensOnly: true }
    lifetime = await federation.trust('plugin-lifetime', own)
    const access = [{ verbs: ['use'], teams: ['shop'] }]
    for (const name of ['west', 'east']) await server.make(clustersPath, connected(name, { access }))
  })
  afterAll(() => federation?.close())

  /** Returns the plugin with a new ID token for the trust. */
  const plugin = async (KEYPLANE_CLIENT_ID: string) => {
    const KEYPLANE_ID_TOKEN_FILE = await cli.write('id-token', federation.sign())
    const env = { KEYPLANE_KEY: undefined, KEYPLANE_CLIENT_ID, KEYPLANE_ID_TOKEN_FILE }
    return (...args: string[]) => cli.run(args, { env })
  }
  const exchanges = () =>
    server.log.map((line) => JSON.parse(line)).filter(({ message }) => message === 'exchange').length
  const audience = (name: string) => [`${server.base}/clusters/${name}`]
  const audienceOf = ({ stdout }: { stdout: string }) => decodeJwt(status(stdout).token).aud
  const inCache = async () => {
    const files = await cached()
    return (await Promise.all(files.map((file) => readFile(join(cli.home, '.cache', 'keyplane', file), 'utf8')))).join()
  }

  test('is exchanged for a token of each cluster, with one request each and without a key', async () => {
    const run = await plugin(lifetime)
    const before = exchanges()
    for (let turn = 0; turn < 2; turn++)
      for (const name of ['west', 'east'])
        expect(audienceOf(await run('credential', '--cluster', name))).toEqual(audience(name))
    expect([exchanges() - before, (await cached()).length]).toEqual([2, 2])
    expect(await inCache()).not.toContain('mpk_')
    expect(await run('credential', '--cluster', 'asia')).toMatchObject(
      says(4, 'The ID token was not exchanged for a token for clusters/asia: ', ''),
    )
  })

  test('of a trust for tokens only gives no key', async () => {
    const run = await plugin(lifetime)
    for (const args of [['credential'], ['credential', '--cluster', 'west', '--ttl', '5m']])
      expect(await run(...args)).toMatchObject(says(4, 'The ID token was not exchanged for a key: ', ''))
  })

  test('that may be exchanged once gives a token of one cluster', async () => {
    const run = await plugin(once)
    const first = await run('credential', '--cluster', 'west')
    expect(audienceOf(first)).toEqual(audience('west'))
    expect(await run('credential', '--cluster', 'east')).toMatchObject(says(4, 'has been exchanged already', ''))
    expect(await run('credential', '--cluster', 'west')).toEqual(first)
  })

  test('that was exchanged for a key gives tokens of all clusters with it', async () => {
    const run = await plugin(once)
    expect(await run('whoami')).toMatchObject({ code: 0 })
    for (const name of ['west', 'east'])
      expect(audienceOf(await run('credential', '--cluster', name))).toEqual(audience(name))
    expect(await inCache()).toContain('mpk_')
  })

  /** Returns the server and the user of each context of a kube config. */
  const usersIn = async (text: string) => {
    const { clusters: servers, users } = await parseYaml(text)
    return users.map(({ user }: { user: { token?: string; exec?: { args: string[] } } }, index: number) => [
      servers[index].cluster.server,
      user.exec?.args ?? decodeJwt(user.token ?? '').aud,
    ])
  }

  test('that may be exchanged once gives a kube config of several clusters in one request, also again, and all their tokens', async () => {
    const run = await plugin(once)
    const before = exchanges()
    const asked = ['kubeconfig', 'west', 'east', '--with', 'token']
    const first = await run(...asked)
    expect(await usersIn(first.stdout)).toEqual([
      ['https://west.example.com', audience('west')],
      ['https://east.example.com', audience('east')],
    ])
    const other = await run('kubeconfig', 'east', 'west', '--with', 'token')
    expect((await usersIn(other.stdout)).map(([url]: [string]) => url)).toEqual([
      'https://east.example.com',
      'https://west.example.com',
    ])
    for (const name of ['east', 'west'])
      expect(audienceOf(await run('credential', '--cluster', name))).toEqual(audience(name))
    expect([exchanges() - before, (await inCache()).includes('mpk_')]).toEqual([1, false])
  })

  test('gives plugins that name each other their tokens with one exchange, whoever asks first', async () => {
    const run = await plugin(once)
    const before = exchanges()
    const users = await usersIn((await run('kubeconfig', 'west', 'east')).stdout)
    const calls = users.map(([, args]: [string, string[]]) => args)
    expect(calls).toEqual([
      ['credential', '--cluster', 'west', '--also', 'east'],
      ['credential', '--cluster', 'east', '--also', 'west'],
    ])
    const again = await plugin(once)
    const ran = await Promise.all([...calls, ...calls].map((args) => again(...args)))
    expect(ran.map(audienceOf)).toEqual(['west', 'east', 'west', 'east'].map(audience))
    expect(exchanges() - before).toBe(2)
    expect(await again(...calls[0], '--also', 'a/b/c')).toMatchObject(says(2, 'A virtual cluster is PROJECT/NAME', ''))
  })

  test('gives all clusters that its trust names', async () => {
    const run = await plugin(once)
    const before = exchanges()
    const { stdout } = await run('kubeconfig', '*')
    expect(await usersIn(stdout)).toEqual([
      ['https://east.example.com', ['credential', '--cluster', 'east', '--also', '*']],
      ['https://west.example.com', ['credential', '--cluster', 'west', '--also', '*']],
    ])
    expect(audienceOf(await run('credential', '--cluster', 'east', '--also', '*'))).toEqual(audience('east'))
    expect(exchanges() - before).toBe(1)
    expect(await run('credential', '--cluster', 'asia', '--also', '*')).toMatchObject(
      says(2, 'does not name the cluster asia'),
    )
    expect(await run('kubeconfig', '*', 'west')).toMatchObject(says(2, 'give no other'))
    expect(await cli.run(['kubeconfig', '*'])).toMatchObject(says(2, 'needs an ID token'))
  })

  test.each([
    [['token', '--cluster', 'west'], 'a token'],
    [['kubeconfig', '--cluster', 'west', '--with', 'token'], 'a kube config with a token'],
  ])('%j makes one request', async (args) => {
    const run = await plugin(once)
    const before = server.log.length
    const { code, stdout } = await run(...args)
    expect([code, /eyJ/.test(stdout)]).toEqual([0, true])
    const resources = server.log
      .slice(before)
      .map((line) => JSON.parse(line))
      .filter(({ message }) => message === 'audit')
    expect(resources).toHaveLength(1)
    expect(await inCache()).not.toContain('mpk_')
  })

  test('gives nothing when one of several clusters is refused, and may be exchanged then', async () => {
    const run = await plugin(once)
    expect(await run('kubeconfig', 'west', 'asia', '--with', 'token')).toMatchObject(
      says(4, 'The ID token was not exchanged for tokens for clusters/asia, clusters/west: ', ''),
    )
    expect(await run('credential', '--cluster', 'west')).toMatchObject({ code: 0 })
  })
})
