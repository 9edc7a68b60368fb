/** `keyplane kubeconfig`, with kubectl against the demo virtual cluster. */
import { existsSync } from 'node:fs'
import { access, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join, relative } from 'node:path'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { kubeConfigFiles } from '../../../clients/cli/src/kubeconfig/files.ts'
import { entryNameOf } from '../../../lib/clusters/deployment.ts'
import { describeKubectl } from '../../support/kubectl.ts'
import { clusters, cluster as connected, instance, instances, keys } from '../../support/objects.ts'
import { type Ran, runProgram } from '../../support/programs.ts'
import { parseYaml } from '../../support/yaml.ts'
import { useAlice } from './alice.ts'
import { says } from './commandline.ts'
import cases from './vectors/kubeconfig.cases.json' with { type: 'json' }

const { server, cluster, cli, key, makeKey, patchKey, issued } = useAlice()
beforeAll(async () => {
  // Alice may see this one, but there is no address of it.
  await server.make(instances('p-demo'), instance('noaddress', { owner: { user: 'alice' } }))
  const access = { accessPoint: { ingress: { enabled: true, host: 'other.example.com' } } }
  await server.make(instances('p-other'), instance('demo', { owner: { user: 'alice' }, ...access }))
  await server.make(instances('p-other'), instance('hidden', { owner: { user: 'bob' }, ...access }))
})
beforeEach(async () => {
  await cli.ok(['login', server.base, '--ca', join(cli.home, 'ca.crt'), '--context', 'here'], {
    env: { ...person.env, KEYPLANE_KEY: key.value },
  })
})

/** A person who has logged in, without variables in the environment. */
const person = { env: { KEYPLANE_URL: undefined, KEYPLANE_KEY: undefined, KEYPLANE_CA: undefined } }

/** The PATH of a person who has installed `keyplane`. */
const pathOfPerson = async () =>
  [dirname(await cli.install()), process.env.KUBEBUILDER_ASSETS, process.env.PATH].filter(Boolean).join(delimiter)

const ran = async (args: readonly string[], env: Record<string, string> = {}) =>
  cli.run(['kubeconfig', ...args], { env: { ...person.env, PATH: await pathOfPerson(), ...env } })
const ok = (args: readonly string[], env: Record<string, string> = {}) =>
  cli.ok(['kubeconfig', ...args], { env: { ...person.env, ...env } })
const inHome = (...names: string[]): string => join(cli.home, ...names)

/** Runs kubectl as a person does who has `keyplane` on the PATH. */
const kubectl = async (...args: string[]): Promise<Ran> =>
  runProgram('kubectl', args, {
    cwd: cli.home,
    env: { HOME: cli.home, PATH: await pathOfPerson() },
  })
/** Returns the name of the file that curl reads, in the home folder. */
async function curlFileOf(config: string): Promise<string> {
  const { users } = await parseYaml(await readFile(inHome(config), 'utf8'))
  const file: string = users[0].user.exec.args.at(-1)
  expect(file).toMatch(/\/demo\.p-demo\.[0-9a-f]{8}\.curl$/)
  return relative(cli.home, file)
}
const pods = { code: 0, stdout: expect.stringMatching(/^NAME .*\nhello-0 .* Running /), stderr: '' }
/** The name that the entry of a cluster has: it ends in the deployment. */
const named = (cluster: string): string => entryNameOf(cluster, server.base)
const second = (): string => `${named('demo.p-demo')}-2`
const namesOf = (config: { contexts: { name: string }[] }): string[] => config.contexts.map(({ name }) => name)

describeKubectl('a kube config of a virtual cluster', () => {
  test.each(['exec', 'curl'])('names the plugin %s in v1beta1 with --exec-api, and kubectl uses it', async (way) => {
    await ok(['demo/demo', '--with', way, '--exec-api', 'v1beta1', '--output', 'config'])
    const { users } = await parseYaml(await readFile(inHome('config'), 'utf8'))
    expect(users[0].user.exec.apiVersion).toBe('client.authentication.k8s.io/v1beta1')
    expect(await kubectl('--kubeconfig', 'config', 'get', 'pods')).toEqual(pods)
  })

  // threat: plugin-9
  test('runs the plugin keyplane, and several kubectl at once share one token', async () => {
    await ok(['demo/demo', '--output', 'config'])
    expect((await stat(inHome('config'))).mode & 0o777).toBe(0o600)
    const text = await readFile(inHome('config'), 'utf8')
    expect(text).not.toMatch(/mpk_|eyJ/)
    const { users, clusters, 'current-context': current } = await parseYaml(text)
    expect(current).toBe(named('demo.p-demo'))
    expect(clusters[0].cluster.server).toBe(cluster.url)
    expect(users).toEqual([
      {
        name: named('demo.p-demo'),
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: 'keyplane',
            args: ['credential', '--virtual-cluster', 'demo/demo', '--context', 'here'],
            interactiveMode: 'Never',
            provideClusterInfo: false,
            installHint: expect.stringContaining(`npm install --global ${server.root}/console/keyplane.tgz `),
          },
          extensions: [{ name: 'keyplane', extension: { server: server.base, target: 'virtualCluster/demo/demo' } }],
        },
      },
    ])
    expect(issued()).toEqual(['none'])
    const all = await Promise.all(Array.from({ length: 3 }, () => kubectl('--kubeconfig', 'config', 'get', 'pods')))
    expect(all).toEqual(all.map(() => pods))
    expect(issued()).toEqual(['none', 'token'])
  })

  test('says how to install the plugin where it is missing', async () => {
    await ok(['demo/demo', '--output', 'config'])
    // An installation of this repository puts the plugin on the PATH of its scripts.
    const folders = [process.env.KUBEBUILDER_ASSETS, ...(process.env.PATH ?? '').split(delimiter)].filter(
      (folder) => folder !== undefined && !existsSync(join(folder, 'keyplane')),
    )
    const env = { HOME: cli.home, PATH: folders.join(delimiter) }
    const { stderr } = await runProgram('kubectl', ['--kubeconfig', 'config', 'get', 'pods'], { cwd: cli.home, env })
    expect(stderr).toContain('keyplane is not on the PATH')
  })

  test('warns if only npm puts the plugin on the PATH, or nobody', async () => {
    const folder = dirname(await cli.install())
    const said = async (env: Record<string, string>) =>
      (await ran(['demo/demo', '--output', 'config'], env)).stderr
        .split('\n')
        .filter((line) => line.includes('find it'))
    const warning = `Warning: kubectl runs keyplane, but will not find it: install it, or add ${folder} to the PATH`
    expect(await said({ PATH: folder })).toEqual([])
    expect(await said({ PATH: folder, npm_execpath: '/usr/lib/npm.js' })).toEqual([warning])
    expect(await said({ PATH: '/nowhere' })).toEqual([warning])
  })

  // threat: plugin-9
  test('runs curl, with a file beside it that only this user can read', async () => {
    await ok(['demo/demo', '--with', 'curl', '--output', 'config'])
    const written = await curlFileOf('config')
    for (const name of ['config', written, `${written}.ca.crt`])
      expect([name, (await stat(inHome(name))).mode & 0o777]).toEqual([name, 0o600])
    expect(await readFile(inHome('config'), 'utf8')).not.toMatch(/mpk_|eyJ/)
    expect(await kubectl('--kubeconfig', 'config', 'get', 'pods')).toEqual(pods)
    expect(issued()).toEqual(['none', 'token'])
  })

  test('has a file of curl of its own, beside that of another kube config with another key', async () => {
    await ok(['demo/demo', '--with', 'curl', '--output', 'config'])
    const { value } = await makeKey()
    const other = { KEYPLANE_URL: server.base, KEYPLANE_KEY: value, KEYPLANE_CA: inHome('ca.crt') }
    await ok(['demo/demo', '--with', 'curl', '--output', 'other'], other)
    expect(await readFile(inHome(await curlFileOf('config')), 'utf8')).toContain(key.value)
    expect(await readFile(inHome(await curlFileOf('other')), 'utf8')).toContain(value)
  })

  test.each([
    ['token', /token: eyJ/],
    ['cert', /client-key-data: /],
  ])('contains a %s', async (way, pattern) => {
    await ok(['demo/demo', '--with', way, '--ttl', '1h', '--output', 'config'])
    expect(await readFile(inHome('config'), 'utf8')).toMatch(pattern)
    expect(await kubectl('--kubeconfig', 'config', 'get', 'pods')).toEqual(pods)
    expect(issued()).toHaveLength(1)
  })

  test('reads a token file that keyplane token writes', async () => {
    await ok(['demo/demo', '--output', 'config'])
    await cli.ok(['token', '--virtual-cluster', 'demo/demo', '--out', 'token'], person)
    expect((await stat(inHome('token'))).mode & 0o777).toBe(0o600)
    await cli.write(
      'config',
      (await readFile(inHome('config'), 'utf8')).replace(
        / {4}exec:\n(?: {6}.*\n)+/,
        `    tokenFile: ${inHome('token')}\n`,
      ),
    )
    expect(await kubectl('--kubeconfig', 'config', 'get', 'pods')).toEqual(pods)
  })

  test('shows in kubectl why a revoked key is refused', async () => {
    await ok(['demo/demo', '--output', 'config'])
    await server.call(`${keys}/${key.name}`, { method: 'DELETE' })
    // Of one request: to get objects, kubectl asks five times for what the cluster serves.
    const { code, stderr } = await kubectl('--kubeconfig', 'config', 'get', '--raw', '/api/v1/pods')
    expect([code, stderr]).toEqual([1, expect.stringContaining('Error: ')])
    expect(stderr).toContain('keyplane login')
  })

  test('names a context file that is not where it is by default', async () => {
    const file = await cli.write('contexts.json', await readFile(inHome('.config', 'keyplane', 'config.json'), 'utf8'))
    const { users } = await parseYaml(await ok(['demo/demo'], { KEYPLANE_CONFIG: 'contexts.json' }))
    expect(users[0].user.exec.env).toEqual([{ name: 'KEYPLANE_CONFIG', value: file }])
  })
})

describeKubectl('a kube config of something else', () => {
  test('is for a connected cluster', async () => {
    const ca = await cli.write('west.crt', cluster.certificateAuthority)
    const args = ['--cluster', 'west', '--server', cluster.url, '--certificate-authority', ca, '--output', 'config']
    for (const way of ['exec', 'curl', 'token']) {
      await ok([...args, '--with', way])
      expect([way, await kubectl('--kubeconfig', 'config', 'get', 'pods')]).toEqual([way, pods])
    }
    expect(issued()).toEqual(['token', 'token', 'token'])
  })

  test('is for all virtual clusters that one may use, and says which are left out', async () => {
    const { code, stdout, stderr } = await ran(['--all'])
    const config = await parseYaml(stdout)
    expect([code, namesOf(config)]).toEqual([0, ['demo.p-demo', 'demo.p-other'].map(named)])
    expect(config['current-context']).toBe('')
    expect(stderr).toMatch(/^Left out demo\/noaddress: .+\n$/)
    expect(stderr).not.toContain('hidden')
    expect(namesOf(await parseYaml(await ok(['--project', 'other'])))).toEqual([named('demo.p-other')])
    expect(namesOf(await parseYaml(await ok(['other/demo', 'demo/demo', 'other/demo'])))).toEqual([
      named('demo.p-other'),
      named('demo.p-demo'),
    ])
    expect(issued()).not.toContain('token')
  })

  test('is for a connected cluster whose object has its address', async () => {
    const certificateAuthorityData = Buffer.from(cluster.certificateAuthority).toString('base64')
    const access = [{ verbs: ['get', 'list', 'use'], users: ['alice'] }]
    await server.make(clusters, connected('west', { server: cluster.url, certificateAuthorityData, access }))
    for (const way of ['exec', 'curl', 'token']) {
      await ok(['--cluster', 'west', '--with', way, '--output', 'config'])
      expect([way, await kubectl('--kubeconfig', 'config', 'get', 'pods')]).toEqual([way, pods])
    }
    expect(issued()).toEqual(['token', 'token', 'token'])
    expect(await ran(['--cluster', 'west', '--with', 'cert'])).toMatchObject(says(2, 'nothing else signs'))
  })

  test('is with the token of a service account for a cluster that accepts no other', async () => {
    const access = [{ verbs: ['get', 'list', 'use'], users: ['alice'] }]
    await server.make(clusters, connected('accounts', { access, tokens: 'ServiceAccounts' }))
    const { args } = (await parseYaml(await ok(['--cluster', 'accounts']))).users[0].user.exec
    expect(args).toEqual(['credential', '--cluster', 'accounts', '--with', 'account', '--context', 'here'])
    await ok(['--cluster', 'accounts', '--with', 'curl', '--output', 'config'])
    const curl = (await parseYaml(await readFile(inHome('config'), 'utf8'))).users[0].user.exec.args
    const file = curl.find((one: string) => one.endsWith('.curl'))
    expect(await readFile(file, 'utf8')).toContain('/clusters/accounts/kubeconfig')
    const all = await parseYaml(await ok(['--all']))
    const own = all.users.find(({ name }: { name: string }) => name === named('accounts'))
    expect(own.user.exec.args).toEqual(args)
    // The server asks the cluster, which this one does not reach.
    const asked = [await cli.run(args, person), await ran(['--cluster', 'accounts', '--with', 'token'])]
    for (const one of asked) expect(one.stderr).toContain('cluster "accounts" has no stored credentials')
    await server.call(`${clusters}/accounts`, { method: 'DELETE' })
  })

  test.each([
    ['has no object', 'exec', 'nowhere'],
    ['has no object', 'token', 'nowhere'],
    ['is hidden', 'exec', 'hidden'],
  ])('says what to do for a connected cluster that %s, with %s', async (_, way, name) => {
    await server.make(clusters, connected('hidden')).catch(() => {})
    const said = await ran(['--cluster', name, '--with', way, '--output', 'config'])
    expect(said).toMatchObject(says(4, `"${name}" not found`))
    expect(said.stderr).toContain('Give the address with --server.')
    expect(existsSync(inHome('config'))).toBe(false)
  })

  test('is not for a connected cluster that one may only see', async () => {
    const access = [{ verbs: ['get', 'list'], users: ['alice'] }]
    await server.make(clusters, connected('seen', { access }))
    expect(await ran(['--cluster', 'seen'])).toMatchObject(says(4, 'create no kube config of it'))
    expect(await ran(['--cluster', 'seen', '--with', 'token'])).toMatchObject(says(4, 'spec.access'))
    const { stderr, stdout } = await ran(['--all'])
    expect(stderr).toContain('Left out seen: ')
    expect(namesOf(await parseYaml(stdout))).not.toContain(named('seen'))
  })

  test('is for connected clusters, too, with --all', async () => {
    const access = [{ verbs: ['get', 'list', 'use'], users: ['alice'] }]
    await server.make(clusters, connected('north', { access }))
    const config = await parseYaml(await ok(['--all']))
    expect(namesOf(config)).toEqual(expect.arrayContaining([named('demo.p-demo'), named('north')]))
    const { users } = config
    const own = users.find(({ name }: { name: string }) => name === named('north'))
    expect(own.user.exec.args).toEqual(['credential', '--cluster', 'north', '--context', 'here'])
    expect(namesOf(await parseYaml(await ok(['--all', '--with', 'token'])))).toContain(named('north'))
    expect(namesOf(await parseYaml(await ok(['--project', 'demo'])))).toEqual([named('demo.p-demo')])
  })

  test('is with --all for the connected clusters that the scope of the key names', async () => {
    await server.make(clusters, connected('named', { access: [{ verbs: ['get', 'use'], users: ['alice'] }] }))
    await patchKey({ scope: { clusters: [{ cluster: 'named' }, { cluster: 'nowhere' }] } })
    const { code, stdout, stderr } = await ran(['--all'])
    expect([code, namesOf(await parseYaml(stdout))]).toEqual([0, [named('named')]])
    expect(stderr).toMatch(/^Left out nowhere: .*not found$/m)
  })

  test('leaves out with --all the kind of clusters that the key may not list', async () => {
    await server.make(clusters, connected('south', { access: [{ verbs: ['get', 'list', 'use'], users: ['alice'] }] }))
    const scope = {
      rules: [{ resources: [{ group: 'management.platform', resources: ['clusters'] }], verbs: ['list'] }],
    }
    await patchKey({ scope: { ...scope, clusters: [{ cluster: 'south' }] } })
    const { code, stdout, stderr } = await ran(['--all'])
    expect([code, namesOf(await parseYaml(stdout))]).toEqual([0, [named('south')]])
    expect(stderr).toMatch(/^Left out the virtual clusters: /m)
    await patchKey({ scope: { rules: null, clusters: null, projects: [{ project: 'demo' }] } })
    expect(await ran(['--all'])).toMatchObject(says(4, 'forbidden'))
  })

  test('is for the management API itself', async () => {
    for (const way of ['exec', 'token']) {
      await ok(['--with', way, '--output', 'config'])
      const { code, stdout } = await kubectl('--kubeconfig', 'config', 'auth', 'whoami', '-o', 'name')
      expect([way, code, stdout]).toEqual([way, 0, expect.stringContaining('selfsubjectreview')])
    }
  })
})

describeKubectl('--merge', () => {
  let mine = `# my clusters
apiVersion: v1
kind: Config
preferences: {colors: true}
clusters:
  - name: home
    cluster: {server: 'https://home.example.com', tls-server-name: "0123"}
users:
  - name: home
    user: {token: 'yes'}
contexts:
  - name: home
    context: {cluster: home, user: home, namespace: mine}
  - name: DEMO
    context: {cluster: home, user: home}
current-context: home
`
  beforeAll(() => {
    mine = mine.replace('DEMO', named('demo.p-demo'))
  })
  const write = async (text: string) => {
    await ok(['demo/demo', '--merge'])
    await writeFile(inHome('.kube', 'config'), text)
  }
  const config = async (name = 'config') => parseYaml(await readFile(inHome('.kube', name), 'utf8'))

  test('makes the kube config of kubectl with its context as the current one, and keeps another one without --use', async () => {
    expect(await ran(['demo/demo', '--merge'])).toMatchObject({
      code: 0,
      stderr: `Wrote ${inHome('.kube', 'config')}.\nThe current context is ${named('demo.p-demo')}.\n`,
    })
    expect((await stat(inHome('.kube', 'config'))).mode & 0o777).toBe(0o600)
    expect(await kubectl('get', 'pods')).toEqual(pods)
    await writeFile(inHome('.kube', 'config'), mine)
    expect((await ran(['demo/demo', '--merge'])).stderr).toContain('Use it with: kubectl --context ')
    expect((await config())['current-context']).toBe('home')
    await ok(['demo/demo', '--merge', '--use'])
    expect(await kubectl('get', 'pods')).toEqual(pods)
    await rm(inHome('.kube', 'config'))
    await ok(['demo/demo', 'other/demo', '--merge'])
    expect((await config())['current-context']).toBe('')
  })

  // threat: plugin-10
  test('keeps every byte that is not its own, and a copy of the file', async () => {
    await write(mine)
    const { stderr } = await ran(['demo/demo', 'other/demo', '--merge'])
    const copy = inHome('.kube', 'config.before-keyplane')
    expect(stderr).toContain(`The kube config as it was before is in ${copy}.\n`)
    expect(await readFile(copy, 'utf8')).toBe(mine)
    const text = await readFile(inHome('.kube', 'config'), 'utf8')
    const isOwn = /^ {2}- name: demo\.p-(?:demo@.*-2|other@.*)\n(?: {4}.*\n)+/gm
    expect(text.match(isOwn)).toHaveLength(6)
    expect(text.replaceAll(isOwn, '')).toBe(mine)
    const after = await config()
    expect(namesOf(after)).toEqual(['home', named('demo.p-demo'), second(), named('demo.p-other')])
    expect(after.contexts[2].context).toMatchObject({ cluster: second(), user: second() })
    // The copy stays.
    await writeFile(inHome('.kube', 'config'), `# mine\n${text}`)
    expect((await ran(['demo/demo', '--merge', '--with', 'token'])).stderr).not.toContain('before-keyplane')
    expect(await readFile(inHome('.kube', 'config'), 'utf8')).toMatch(/^# mine\n# my clusters\n/)
    expect(await readFile(copy, 'utf8')).toBe(mine)
  })

  // threat: plugin-10
  test('updates its own entries only, where they are, and keeps what their user has added', async () => {
    await write(mine)
    await ok(['demo/demo', 'other/demo', '--merge'])
    expect((await kubectl('config', 'set-context', second(), '--namespace', 'shop')).code).toBe(0)
    const before = await config()
    const { stderr } = await ran(['other/demo', 'demo/demo', '--merge'])
    expect(stderr).toBe(`The kube config is up to date.\nThe contexts are: ${named('demo.p-other')}, ${second()}\n`)
    expect(await config()).toEqual(before)
    await ok(['demo/demo', '--merge', '--with', 'token'])
    const after = await config()
    expect(namesOf(after)).toEqual(namesOf(before))
    const own = after.contexts.find(({ name }: { name: string }) => name === second())
    expect(own.context.namespace).toBe('shop')
    expect(after.users.filter(({ name }: { name: string }) => name !== second())).toEqual(
      before.users.filter(({ name }: { name: string }) => name !== second()),
    )
    expect(after.users.find(({ name }: { name: string }) => name === second()).user.token).toMatch(/^eyJ/)
  })

  test('updates the file of KUBECONFIG that has the entry, and adds others to the first one', async () => {
    await write(mine)
    const KUBECONFIG = [inHome('first'), inHome('second')].join(delimiter)
    await ok(['demo/demo', '--merge'], { KUBECONFIG: inHome('second') })
    await cli.write('first', mine)
    await ok(['demo/demo', 'other/demo', '--merge', '--with', 'token'], { KUBECONFIG })
    const first = await parseYaml(await readFile(inHome('first'), 'utf8'))
    const second = await parseYaml(await readFile(inHome('second'), 'utf8'))
    expect([namesOf(first), namesOf(second)]).toEqual([
      ['home', named('demo.p-demo'), named('demo.p-other')],
      [named('demo.p-demo')],
    ])
    expect(second.users[0].user.token).toMatch(/^eyJ/)
  })

  test('changes the target of a symbolic link', async () => {
    const real = await cli.write('real', mine)
    await ok(['demo/demo', '--merge'])
    await runProgram('ln', ['-sf', real, inHome('.kube', 'config')], { cwd: cli.home, env: process.env })
    await ok(['demo/demo', '--merge'])
    expect(await readlink(inHome('.kube', 'config'))).toBe(real)
    expect(namesOf(await config())).toContain(second())
  })

  test.each(cases.left as [string, string, string][])('leaves a file with %s as it is', async (_, text, why) => {
    await write(text)
    expect(await ran(['demo/demo', '--merge'])).toMatchObject(says(1, why))
    expect(await readFile(inHome('.kube', 'config'), 'utf8')).toBe(text)
  })

  // threat: plugin-10
  test('loses nothing when many run at once, beside kubectl config', async () => {
    await write(mine)
    let areMerging = true
    const merging = Promise.all(
      ['demo/demo', 'other/demo', 'demo/demo', 'other/demo'].map((one) => ran([one, '--merge'])),
    ).finally(() => {
      areMerging = false
    })
    // kubectl does not wait for the lock. It is free at the latest when all have merged.
    const setting = () => kubectl('config', 'set', 'preferences.colors', 'false')
    let set = await setting()
    while (areMerging && set.stderr.includes('config.lock: file exists')) set = await setting()
    const all = await merging
    if (set.code !== 0) set = await setting()
    expect([...all.map(({ code }) => code), set.code]).toEqual([0, 0, 0, 0, 0])
    expect(namesOf(await config()).toSorted()).toEqual([named('demo.p-demo'), second(), named('demo.p-other'), 'home'])
    await expect(access(inHome('.kube', 'config.lock'))).rejects.toThrow('ENOENT')
  })
})

describe('keyplane kubeconfig', () => {
  test.each(cases.refused as [string[], string][])('refuses %j', async (args, message) =>
    expect(await ran(args)).toMatchObject(says(2, message, '')),
  )

  test('fails without a file when one of several is refused', async () => {
    expect(await ran(['demo/demo', 'other/hidden', '--output', 'config'])).toMatchObject(says(4, '"hidden" not found'))
    await expect(access(inHome('config'))).rejects.toThrow('ENOENT')
  })

  test('prints a command that can be pasted, whatever the name of the file', async () => {
    const { stderr } = await ran(['demo/demo', '--with', 'token', '--output', "it's my config"])
    const [, call = ''] = /Use it with: (.*)\n$/.exec(stderr) ?? []
    const script = `kubectl() { printf '%s\\n' "$@"; }\n${call}`
    const words = await runProgram('sh', ['-c', script], { cwd: cli.home, env: { PATH: process.env.PATH } })
    expect(words.stdout).toBe(`--kubeconfig\n${inHome("it's my config")}\nget\npods\n`)
  })

  test.each([
    ['linux', { KUBECONFIG: '/a:/b::/a' }, ['/a', '/b']],
    ['linux', { HOME: '/home/a' }, ['/home/a/.kube/config']],
    ['win32', { KUBECONFIG: 'C:\\a;D:\\b' }, ['C:\\a', 'D:\\b']],
    ['win32', { USERPROFILE: 'C:\\Users\\a', HOME: '/home/a' }, ['C:\\Users\\a\\.kube\\config']],
  ] as const)('finds the kube configs on %s with %j', (platform, env, files) => {
    expect(kubeConfigFiles(env, platform)).toEqual(files)
  })
})
