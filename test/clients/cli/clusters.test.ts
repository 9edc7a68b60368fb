/** `keyplane clusters`: lists, shows, creates and disconnects connected clusters. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { issueLoopback, makeAuthority, validFor } from '../../../infra/local/host/certificates.ts'
import { ACCESS_KEY, clusterFileNames, clusterFlags } from '../../../lib/clusters/connect/clusterfiles.ts'
import { accessKey, clusters, cluster as connected, keys } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine, says } from './commandline.ts'

const server = useServer()
const issuer = await makeAuthority('clusters', validFor(1, Date.now()))
const authority = { certificate: issuer.certificate, key: (await issueLoopback(issuer, Date.now())).key }
let cli: CommandLine
let made = 0
let name: string
beforeEach(async () => {
  cli = await createCommandLine(server)
  name = `c${++made}`
})
afterEach(() => cli.stop())

const stored = async () => server.call(`${clusters}/${name}`)
const SECRETS = { token: 'secret-token', exec: { command: 'steal', args: ['secret-arg'] }, password: 'secret-password' }

/** Returns a kube config with several clusters, as kubectl writes it. */
const kubeConfig = (cluster: object, more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://other.example.com' } },
      { name: 'mine', cluster },
    ],
    users: [{ name: 'me', user: SECRETS }],
    contexts: [
      { name: 'elsewhere', context: { cluster: 'other', user: 'me' } },
      { name: 'here', context: { cluster: 'mine', user: 'me' } },
      { name: 'nowhere', context: { cluster: 'gone', user: 'me' } },
    ],
    'current-context': 'here',
    ...more,
  })
const create = async (cluster: object, more: object = {}, args: readonly string[] = []) => {
  const file = await cli.write('config', kubeConfig(cluster, more))
  return cli.run(['clusters', 'create', name, '--from-kubeconfig', file, ...args])
}
const mine = { server: 'https://mine.example.com:6443' }

describe('keyplane clusters create', () => {
  test('takes the server and the certificates of the current context, and nothing else', async () => {
    const { certificate, key } = authority
    const data = Buffer.from(`# mine\n${key}\n${certificate}`).toString('base64')
    const texts = ['--display-name', 'Mine', '--description', 'Of the shop']
    const ran = await create({ ...mine, 'certificate-authority-data': data }, {}, texts)
    expect(ran).toMatchObject({ code: 0, stdout: '' })
    expect(ran.stderr).toContain(`Created the cluster ${name}.`)
    expect(JSON.stringify(ran)).not.toContain('secret')
    const { json, text } = await stored()
    expect(json.spec).toEqual({
      ...mine,
      displayName: 'Mine',
      description: 'Of the shop',
      certificateAuthorityData: Buffer.from(`${certificate.trim()}\n`).toString('base64'),
    })
    expect(text).not.toMatch(/secret|PRIVATE/)
  })

  test('takes the cluster of another context, and a certificate authority beside the file', async () => {
    const { certificate } = authority
    await cli.write('mine.crt', certificate)
    const more = { contexts: [{ name: 'a', context: { cluster: 'mine' } }], 'current-context': '' }
    const ran = await create({ ...mine, 'certificate-authority': 'mine.crt' }, more, [
      '--from-context',
      'a',
      '-o',
      'name',
    ])
    expect(ran).toMatchObject({ code: 0, stdout: `${name}\n` })
    const data = Buffer.from(`${certificate.trim()}\n`).toString('base64')
    expect((await stored()).json.spec).toEqual({ ...mine, certificateAuthorityData: data })
  })

  test('takes the proxy and the name of the certificate', async () => {
    const network = { 'proxy-url': 'socks5://proxy.example.com:1080', 'tls-server-name': 'mine.internal' }
    expect((await create({ ...mine, ...network })).code).toBe(0)
    expect((await stored()).json.spec).toEqual({
      ...mine,
      proxyURL: network['proxy-url'],
      tlsServerName: network['tls-server-name'],
    })
  })

  test('takes an address that is written', async () => {
    const ca = await cli.write('mine.crt', authority.certificate)
    await cli.ok(['clusters', 'create', name, '--server', mine.server, '--ca', ca])
    expect((await stored()).json.spec).toMatchObject({ ...mine, certificateAuthorityData: expect.any(String) })
  })

  test('warns about an address that only this machine reaches', async () => {
    expect((await create({ server: 'https://127.0.0.1:6443' })).stderr).toContain('Warning: only this machine')
  })

  test('creates nothing in a dry run', async () => {
    const ran = await create(mine, {}, ['--dry-run', '-o', 'json'])
    expect([ran.code, JSON.parse(ran.stdout).spec]).toEqual([0, mine])
    expect(ran.stderr).toContain('Dry run: the server would create this cluster.')
    expect((await stored()).status).toBe(404)
  })

  test.each<[string, object, object, readonly string[], string]>([
    ['a context that is not there', mine, {}, ['--from-context', 'x'], 'there is no context "x"'],
    ['no current context', mine, { 'current-context': '' }, [], 'The contexts are: elsewhere, here, nowhere.'],
    ['no entries', mine, { contexts: null, clusters: {} }, [], 'The contexts are: none.'],
    ['a context without a cluster', mine, {}, ['--from-context', 'nowhere'], 'names no cluster of the file'],
    ['a cluster without a server', {}, {}, [], 'has no server'],
    ['an http server', { server: 'http://mine.example.com' }, {}, [], 'It must be https'],
    ['a server that is no URL', { server: 'mine' }, {}, [], 'is not an https URL'],
    ['a server with a password', { server: 'https://a:secret@mine.example.com' }, {}, [], 'without user, query'],
    ['an unverified server', { ...mine, 'insecure-skip-tls-verify': true }, {}, [], 'nothing proves which server'],
    ['a proxy with a user', { ...mine, 'proxy-url': 'http://secret@proxy' }, {}, [], 'URL without a user'],
    ['a proxy that is no URL', { ...mine, 'proxy-url': ['secret'] }, {}, [], 'URL without a user'],
    ['a TLS name that is none', { ...mine, 'tls-server-name': '10.0.0.1' }, {}, [], 'is not a DNS name'],
    ['data that is no certificate', { ...mine, 'certificate-authority-data': 'c2VjcmV0' }, {}, [], 'no certificate in'],
    ['an authority that is not there', { ...mine, 'certificate-authority': 'no.crt' }, {}, [], 'does not exist'],
  ])('refuses a kube config with %s', async (_, cluster, more, args, message) => {
    const ran = await create(cluster, more, args)
    expect([ran.code === 0, ran.stdout, ran.stderr]).toEqual([false, '', expect.stringContaining(message)])
    expect(ran.stderr).not.toContain('secret')
    expect((await stored()).status).toBe(404)
  })

  test.each([
    ['of 10 MB', `# ${'x'.repeat(10_000_000)}`, 'has more than 2 MiB'],
    ['that is no YAML', 'token: "secret', 'is no kube config: yaml: '],
    ['that is a list', '- secret', 'is no kube config: it is not an object'],
    ['with a key twice', 'clusters: []\nclusters: []', 'line 2: key "clusters" already set'],
    ['that is empty', '', 'is no kube config: it is not an object'],
  ])('refuses a file %s', async (_, text, message) => {
    const file = await cli.write('config', text)
    const ran = await cli.run(['clusters', 'create', name, '--from-kubeconfig', file])
    expect(ran).toMatchObject(says(1, message))
    expect(ran.stderr).not.toContain('secret')
    expect((await stored()).status).toBe(404)
  })

  test.each([
    [['A'], 'cannot be the name'],
    [['a.b'], 'cannot be the name'],
    [['a/b'], 'cannot be the name'],
    [['x'.repeat(64)], 'cannot be the name'],
    [[], 'needs NAME'],
    [['n'], 'Give either --from-kubeconfig FILE or --server URL'],
    [['n', '--server', 'https://a', '--from-kubeconfig', 'f'], 'Give either --from-kubeconfig FILE or --server URL'],
    [['n', '--server', 'https://a', '--from-context', 'x'], '--from-context is for --from-kubeconfig'],
    [['n', '--from-kubeconfig', 'f', '--ca', 'x'], '--ca is for --server'],
    [['n', '--server', 'http://a'], 'It must be https'],
  ])('refuses %j', async (args, message) =>
    expect(await cli.run(['clusters', 'create', ...args])).toMatchObject(says(2, message)),
  )

  test('says what the server refuses: a name that is taken, and users who are no administrators', async () => {
    await server.make(clusters, connected(name))
    expect(await create(mine)).toMatchObject(says(4, 'already exists'))
    const { spec } = await server.make(keys, accessKey(`clusters-${name}`, { user: 'alice' }))
    const file = await cli.write('config', kubeConfig(mine))
    const ran = await cli.run(['clusters', 'create', 'mine', '--from-kubeconfig', file], {
      env: { KEYPLANE_KEY: spec.key },
    })
    expect(ran).toMatchObject(says(4, 'only system:masters may create clusters'))
  })
})

describe('keyplane clusters list and show', () => {
  test('say where the cluster is and who may use it', async () => {
    const access = [{ verbs: ['get', 'use'], users: ['alice'], teams: ['shop'] }]
    await server.make(clusters, connected(name, { displayName: 'Its name', access }))
    const list = await cli.ok(['clusters', 'list'])
    expect(list).toMatch(/^NAME +SERVER +YOU CAN USE IT +DISPLAY NAME\n/)
    expect(list).toMatch(new RegExp(`^${name} +https://${name}.example.com +yes +Its name$`, 'm'))
    expect((await cli.ok(['clusters', 'list', '-o', 'name'])).split('\n')).toContain(name)
    const shown = await cli.ok(['clusters', 'show', name])
    expect(shown).toContain('get, use for alice, team:shop\n')
    expect(shown).toMatch(/^You can use it +yes$/m)
    expect(JSON.parse(await cli.ok(['clusters', 'show', name, '-o', 'json']))).toMatchObject({ metadata: { name } })
    expect(await cli.run(['clusters', 'list', '-l', 'no=such'])).toMatchObject({ code: 0, stdout: '' })
    expect(await cli.run(['clusters', 'show', 'none'])).toMatchObject(says(4, '"none" not found'))
    expect(await cli.run(['clusters', 'show', '..'])).toMatchObject(says(2, 'is not the name of a cluster'))
  })
})

describe('keyplane clusters edit', () => {
  const edit = (...args: string[]) => cli.run(['clusters', 'edit', name, ...args])

  test('adds users and teams, and takes a new address with its authority', async () => {
    expect(await create(mine, {}, ['--team', 'shop'])).toMatchObject({ code: 0 })
    const shop = { verbs: ['get', 'use'], teams: ['shop'] }
    expect((await stored()).json.spec.access).toEqual([shop])
    expect(await edit('--user', 'alice,bob')).toMatchObject(says(0, `The cluster ${name} is changed.`))
    const both = [shop, { verbs: ['get', 'use'], users: ['alice', 'bob'] }]
    expect((await stored()).json.spec.access).toEqual(both)
    await edit('--team', 'shop', '--display-name', 'Mine')
    await edit('--server', 'https://new.example.com')
    expect((await stored()).json.spec).toEqual({ server: 'https://new.example.com', displayName: 'Mine', access: both })
  })

  test('asks before somebody may use it no longer, and before other tokens are issued', async () => {
    await create(mine, {}, ['--team', 'shop'])
    const before = (await stored()).json.metadata.resourceVersion
    for (const args of [['--only-these'], ['--user', 'alice', '--only-these'], ['--tokens', 'service-accounts']]) {
      expect(await edit(...args)).toMatchObject(says(2, 'There is no terminal to ask in.', ''))
      const no = await cli.run(['clusters', 'edit', name, ...args], { isTerminal: true, input: 'n\n' })
      expect(no).toMatchObject(says(0, 'Nothing was changed.'))
    }
    expect(await edit('--only-these', '--dry-run')).toMatchObject(says(0, 'Dry run'))
    expect((await stored()).json.metadata.resourceVersion).toBe(before)
    expect(await edit('--user', 'alice', '--only-these', '--yes')).toMatchObject({ code: 0 })
    expect((await stored()).json.spec.access).toEqual([{ verbs: ['get', 'use'], users: ['alice'] }])
  })

  test.each([
    [[], 'What should change?'],
    [['--eks', 'x'], '--eks and --region belong together.'],
    [['--eks', 'x', '--region', 'r', '--tokens', 'keyplane'], 'leave --tokens out'],
    [['--tokens', 'issuer'], '--tokens must be one of keyplane, service-accounts, not "issuer"'],
    [['--server', 'https://a', '--from-kubeconfig', 'b'], 'Give either'],
  ])('refuses %j', async (args, message) => expect(await edit(...args)).toMatchObject(says(2, message, '')))
})

describe('keyplane clusters disconnect', () => {
  const disconnect = (args: readonly string[], options = {}) =>
    cli.run(['clusters', 'disconnect', name, ...args], options)
  beforeEach(() => server.make(clusters, connected(name)))

  test('prints every file and flag of clusters connect, and the key of the cluster', async () => {
    const scope = { roles: [{ role: 'agent' }], clusters: [{ cluster: name }] }
    await server.make(keys, accessKey(`reviews-${name}`, { user: `agent-${name}`, scope }))
    await server.make(keys, accessKey(`other-${name}`, { user: `agent-${name}`, scope: { clusters: scope.clusters } }))
    const { code, stdout } = await disconnect(['--dry-run'])
    expect(code).toBe(0)
    const directory = '/etc/kubernetes/keyplane'
    for (const flag of clusterFlags({ directory })) expect(stdout).toContain(`     ${flag}\n`)
    const names = [...clusterFileNames, ACCESS_KEY]
    expect([...stdout.matchAll(/^ {5}rm (\S+)$/gm)].map(([, file]) => file)).toEqual(
      names.map((file) => `${directory}/${file}`),
    )
    expect(stdout).toContain(`keyplane keys delete reviews-${name}\n`)
    expect(stdout).not.toContain(`other-${name}`)
    expect((await stored()).status).toBe(200)
  })

  test.each([
    {
      credentials: { eks: { clusterName: 'web_1', region: 'eu-central-1' } },
      more: {
        server: 'https://0123.gr7.eu-central-1.eks.amazonaws.com',
        certificateAuthorityData: Buffer.from(issuer.certificate).toString('base64'),
      },
      has: ['delete namespace tokens\n', 'delete-access-entry --region eu-central-1 --cluster-name web_1 '],
    },
    {
      credentials: { secretRef: { name: 'west/one' } },
      has: ['delete namespace tokens tokens-system\n', '--secret-id keyplane/STAGE/clusters/west/one\n'],
    },
    { credentials: undefined, has: ['--secret-id keyplane/STAGE/clusters/NAME\n'] },
  ])('prints what stays of service accounts with the credentials $credentials', async ({ credentials, more, has }) => {
    name = `accounts-${++made}`
    const spec = {
      tokens: 'ServiceAccounts',
      serviceAccounts: { namespace: 'tokens' },
      ...(credentials && { credentials }),
      ...more,
    }
    await server.make(clusters, connected(name, spec))
    const { code, stdout } = await disconnect(['--dry-run'])
    expect(code).toBe(0)
    for (const line of has) expect(stdout).toContain(line.replace('NAME', name))
    expect(stdout).not.toContain('--authentication-config')
  })

  test('deletes the object after a question only, or with --yes', async () => {
    expect(await disconnect([])).toMatchObject(says(2, 'There is no terminal to ask in.'))
    const no = await disconnect([], { isTerminal: true, input: 'n\n' })
    expect([no.code, no.stderr]).toEqual([0, expect.stringContaining('Nothing was changed.')])
    expect((await stored()).status).toBe(200)
    const yes = await disconnect([], { isTerminal: true, input: 'y\n' })
    expect([yes.code, yes.stderr]).toEqual([0, expect.stringContaining('deleting the object ends no access')])
    expect((await stored()).status).toBe(404)
    await server.make(clusters, connected(name))
    const { code, stdout, stderr } = await disconnect(['--yes'])
    expect([code, stdout]).toEqual([0, expect.stringContaining(`none of user agent-${name} is known`)])
    expect(stderr).toContain(`The object of cluster ${name} is deleted.`)
    expect((await stored()).status).toBe(404)
    expect(await disconnect(['--yes'])).toMatchObject({ code: 4, stdout: '' })
  })
})
