/** `keyplane clusters connect`: against an API server that answers as each test says. */
import { chmod, lstat, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listeningOverTls } from '../../support/listeningovertls.ts'
import { accessKey, clusters, cluster as connected, instance, instances, keys } from '../../support/objects.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine, says } from './commandline.ts'
import { useFront } from './front.ts'

const server = useServer()
const front = useFront(server)
let api: Awaited<ReturnType<typeof listeningOverTls>>
let accepts = false
let cli: CommandLine
let made = 0
let name: string
let kubeConfig: string

beforeAll(async () => {
  api = await listeningOverTls((_, response) => {
    const body = accepts ? { status: { userInfo: { username: 'admin' } } } : { kind: 'Status', message: 'Unauthorized' }
    response.writeHead(accepts ? 201 : 401).end(JSON.stringify(body))
  })
})
afterAll(() => api?.stop())
beforeEach(async () => {
  accepts = false
  front.act = () => false
  front.change = (text) => text
  name = `connect-${++made}`
  cli = await createCommandLine(server)
  const cluster = {
    server: api.url,
    'certificate-authority-data': Buffer.from(api.certificateAuthority).toString('base64'),
  }
  const entries = { clusters: [{ name: 'a', cluster }], contexts: [{ name: 'a', context: { cluster: 'a' } }] }
  kubeConfig = await cli.write('config', JSON.stringify({ ...entries, 'current-context': 'a' }))
})
afterEach(() => cli.stop())

const connect = (args: readonly string[] = [], options = {}) => cli.run(['clusters', 'connect', name, ...args], options)
const withAddress = () => ['--from-kubeconfig', kubeConfig]
/** The state of each step: `done files`. */
const stepsIn = (stdout: string) =>
  [...stdout.matchAll(/^(done|missing) +(\w+)/gm)].map(([, state, step]) => `${state} ${step}`)
const fileOf = (file: string) => join(cli.home, `keyplane-${name}`, file)
const throughFront = async () => ({
  env: { KEYPLANE_URL: front.base, KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority) },
})

test('makes the files, the key and the object, says what is missing, and nothing once the cluster accepts its tokens', async () => {
  const first = await connect([...withAddress(), '--team', 'shop'])
  expect([first.code, stepsIn(first.stdout), first.stderr]).toEqual([
    0,
    ['done files', 'done key', 'done object', 'missing check'],
    expect.stringContaining('only this machine'),
  ])
  expect(first.stdout).toContain(`1. Copy keyplane-${name} to /etc/kubernetes/keyplane`)
  expect(first.stdout).toContain(`Then: keyplane clusters check ${name}\n`)
  const key = await readFile(fileOf('keyplane-access-key'), 'utf8')
  expect((await lstat(fileOf('keyplane-access-key'))).mode & 0o777).toBe(0o600)
  expect(first.stdout + first.stderr).not.toContain(key)
  const { json } = await server.call(`${keys}/agent-${name}`)
  expect(json).toMatchObject({
    spec: { user: `agent-${name}`, scope: { roles: [{ role: 'agent' }], clusters: [{ cluster: name }] } },
    status: { mayReview: true },
  })
  const object = await server.call(`${clusters}/${name}`)
  expect(object.json.spec).toMatchObject({ server: api.url, access: [{ verbs: ['get', 'use'], teams: ['shop'] }] })

  accepts = true
  const again = await connect([...withAddress(), '--team', 'shop'])
  expect([again.code, stepsIn(again.stdout)]).toEqual([0, ['done files', 'done key', 'done object', 'done check']])
  expect(again.stdout).toContain('the cluster knows you as admin\n')
  expect(again.stdout).not.toContain('Copy')
  expect(await readFile(fileOf('keyplane-access-key'), 'utf8')).toBe(key)
})

test('with --dry-run it says what is missing, and makes nothing', async () => {
  const { code, stdout } = await connect([...withAddress(), '--dry-run'])
  expect([code, stepsIn(stdout)]).toEqual([0, ['missing files', 'missing key', 'missing object']])
  expect(await readdir(cli.home)).not.toContain(`keyplane-${name}`)
  const found = await Promise.all([`${keys}/agent-${name}`, `${clusters}/${name}`].map((path) => server.call(path)))
  expect(found.map(({ status }) => status)).toEqual([404, 404])
})

describe('files', () => {
  // threat: people-6
  test('that somebody has changed, and links, are not overwritten, and nothing else happens', async () => {
    expect((await connect()).code).toBe(0)
    const file = fileOf('authorization.yaml')
    await writeFile(file, `${await readFile(file, 'utf8')}# mine\n`)
    expect(await connect(['--when-away', 'rbac'])).toMatchObject(
      says(2, 'authorization.yaml is not as this command', ''),
    )
    expect(await readFile(file, 'utf8')).toMatch(/# mine\n$/)
    const target = await cli.write('target', 'PEM')
    await rm(file)
    await symlink(target, file)
    expect(await connect()).toMatchObject(says(2, 'authorization.yaml is not a regular file', ''))
    expect(await readFile(target, 'utf8')).toBe('PEM')
    await symlink(cli.home, join(cli.home, 'elsewhere'))
    expect(await connect(['--out', 'elsewhere'])).toMatchObject(says(2, 'elsewhere is not a folder of yours', ''))
  })

  test('of its own are replaced when the options say something else', async () => {
    await connect()
    const before = await readFile(fileOf('authorization.yaml'), 'utf8')
    expect((await connect(['--when-away', 'rbac'])).stdout).toContain('wrote ')
    expect(await readFile(fileOf('authorization.yaml'), 'utf8')).not.toBe(before)
  })

  test('of a virtual cluster have its uid, and its key is in a Secret of its own', async () => {
    const project = `shop${made}`
    const namespace = `p-${project}`
    const { metadata } = await server.make(instances(namespace), instance('dev', { owner: { user: 'alice' } }))
    const ran = await cli.run(['clusters', 'connect', `${project}/dev`, '--for', 'vcluster'])
    expect([ran.code, stepsIn(ran.stdout)]).toEqual([0, ['done files', 'done key']])
    name = `${project}-dev`
    const [secret = '', ...others] = await Promise.all(
      ['access-key.yaml', 'files.yaml', 'vcluster.yaml'].map((file) => readFile(fileOf(file), 'utf8')),
    )
    const [key = ''] = /mpk_\w+/.exec(secret) ?? []
    expect(await readdir(fileOf('.'))).toHaveLength(3)
    expect(others.join()).not.toContain(key)
    expect(others.join()).toContain(`/virtualclusters/${namespace}/dev/${metadata.uid}`)
    const { json } = await server.call(`${keys}/vcluster-${name}`)
    expect(json.status.mayReview).toBe(true)
    const again = await cli.run(['clusters', 'connect', `${project}/dev`, '--for', 'vcluster'])
    expect(stepsIn(again.stdout)).toEqual(['done files', 'done key'])
  })
})

describe('the key', () => {
  test('whose answer was lost is the one that a repetition goes on with', async () => {
    let isCut = false
    front.act = (moment, { method, path }) => {
      isCut = moment === 'after' && method === 'POST' && path.startsWith(keys) && !path.includes('dryRun')
      return isCut
    }
    const options = await throughFront()
    expect(await connect([], options)).toMatchObject(says(1, 'Repeat the command: it continues with the same value.'))
    const value = await readFile(fileOf('keyplane-access-key'), 'utf8')
    front.act = () => false
    const { stdout } = await connect([], options)
    expect(stepsIn(stdout)).toEqual(['done files', 'done key', 'missing object'])
    expect(await readFile(fileOf('keyplane-access-key'), 'utf8')).toBe(value)
  })

  test.each<[why: string, spoil: () => Promise<unknown>]>([
    ['does not. If the cluster', () => rm(fileOf('keyplane-access-key'))],
    ['has a value that is not that of', () => writeFile(fileOf('keyplane-access-key'), server.adminKey)],
    ['is disabled', () => cli.ok(['keys', 'disable', `agent-${name}`, '--yes'])],
  ])('is missing when it %s', async (why, spoil) => {
    await connect()
    await spoil()
    const { code, stdout } = await connect()
    expect([code, stepsIn(stdout)[1]]).toEqual([0, 'missing key'])
    expect(stdout).toContain(why)
  })

  test('is not taken from a file that others may have written', async () => {
    await connect()
    await chmod(fileOf('keyplane-access-key'), 0o640)
    expect(await connect()).toMatchObject(says(2, 'is not a file that only you can read'))
    await chmod(fileOf('keyplane-access-key'), 0o600)
    await writeFile(fileOf('keyplane-access-key'), 'something else')
    expect(await connect()).toMatchObject(says(2, 'has no access key, and is not overwritten'))
  })

  test.each([
    [{ user: 'alice' }, 'only system:masters may create access keys for others'],
    [
      {
        user: 'root',
        groups: ['system:masters'],
        scope: {
          clusters: [{ cluster: '*' }],
          rules: [{ verbs: ['*'], resources: [{ group: 'management.platform', resources: ['*'] }] }],
        },
      },
      'An administrator without a scope',
    ],
  ])('is made by nobody who may not give the right to review: %j', async (of, why) => {
    const { spec } = await server.make(keys, accessKey(`mine-${name}`, of))
    const ran = await connect([], { env: { KEYPLANE_KEY: spec.key } })
    expect([ran.code, stepsIn(ran.stdout)]).toEqual([4, ['done files']])
    expect(ran.stderr).toContain(why)
    expect(await readdir(fileOf('.'))).not.toContain('keyplane-access-key')
    expect((await server.call(`${keys}/agent-${name}`)).status).toBe(404)
  })
})

describe('the object', () => {
  test('that is another one is not changed', async () => {
    await server.make(clusters, connected(name))
    const { stdout } = await connect([...withAddress(), '--team', 'shop'])
    expect(stdout).toContain(`${name} has another access, server, certificateAuthorityData: change it with`)
    const { json } = await server.call(`${clusters}/${name}`)
    expect(json.spec.server).toBe(`https://${name}.example.com`)
  })
})

describe('service accounts', () => {
  const role = 'arn:aws:iam::123456789012:role/keyplane-prod-clusters'

  test('of Amazon EKS get the role of the deployment and an access entry, and no key', async () => {
    front.change = (text, path) =>
      path.endsWith('/selves') ? text.replace('"status":{', `"status":{"clustersRoleARN":"${role}",`) : text
    const eks = ['--eks', 'web_1', '--region', 'eu-central-1']
    const { code, stdout } = await connect(eks, await throughFront())
    expect([code, stepsIn(stdout)]).toEqual([0, ['done files', 'missing object']])
    expect((await readdir(fileOf('.'))).sort()).toEqual(['accounts.yaml', 'entry.sh', 'role.sh'])
    expect(await readFile(fileOf('entry.sh'), 'utf8')).toContain(`--cluster-name web_1 --principal-arn ${role} `)
    expect(stdout).toContain(`account 123456789012: sh -e keyplane-${name}/role.sh`)
    const terraform = await connect([...eks, '--terraform', '--out', 'tf'], await throughFront())
    expect(terraform.stdout).toContain('role.tf, cluster.tf in tf')
  })

  test('of a deployment without a role, and of other clusters, get what there is', async () => {
    const eks = await connect(['--eks', 'web', '--region', 'eu-central-1'])
    expect(stepsIn(eks.stdout)).toEqual(['done files', 'missing role', 'missing object'])
    const { stdout } = await connect(['--tokens', 'service-accounts', '--namespace', 'tokens', '--out', 'other'])
    expect(stdout).toContain('kubectl apply -f other/accounts.yaml')
    expect(await readFile(join(cli.home, 'other/accounts.yaml'), 'utf8')).toContain('name: tokens-system')
  })
})

test.each<[string[], string]>([
  [['--for', 'docker'], '--for must be one of kubeadm, k3s, rke2, talos, vcluster'],
  [['--for', 'k3s', '--tokens', 'service-accounts'], '--for is for clusters that accept tokens of keyplane'],
  [['--when-away', 'allow'], '--when-away must be one of refuse, rbac'],
  [['--namespace', 'x'], '--namespace is for --eks'],
  [['--tokens', 'service-accounts', '--namespace', 'a.b'], 'is not the name of a namespace'],
  [['--terraform'], '--terraform is for --eks'],
  [['--eks', "a'", '--region', 'eu-central-1'], '--eks is not the name'],
  [['--eks', 'a', '--region', 'eu'], '--region is not a region'],
  [['--directory', "/a'b"], '--directory is not an absolute path'],
  [['--api', 'http://a'], '--api is not an https URL'],
])('refuses %j', async (args, message) => expect(await connect(args)).toMatchObject(says(2, message, '')))

test.each(['*', "a'", 'a/b/c'])('refuses the name %s', async (text) => {
  expect(await cli.run(['clusters', 'connect', text])).toMatchObject({ code: 2, stdout: '' })
})
