/** `keyplane report-leak`, `whose`, `revoke` and `explain` against the whole API. */
import { beforeAll, describe, expect, test } from 'vitest'
import { provider, providers, trust, trusts } from '../../support/federation.ts'
import { keys } from '../../support/objects.ts'
import { rotatingOn } from '../../support/rotation.ts'
import { useServer } from '../../support/sharedserver.ts'
import { says, useCommandLine } from './commandline.ts'
import { useFront } from './front.ts'

const server = useServer({ MAX_KEYS_PER_OWNER: '0' })
const front = useFront(server)
const cli = useCommandLine(server)
beforeAll(() => void cli.write('front.crt', front.certificateAuthority))

const { use } = rotatingOn(() => server)

let count = 0
async function createKey(spec: object = {}, metadata: object = {}): Promise<{ name: string; value: string }> {
  const name = `key-${++count}`
  const body = { metadata: { name, ...metadata }, spec: { displayName: 'Job', user: 'alice', ...spec } }
  return { name, value: (await server.make(keys, body)).spec.key }
}
const isDisabled = async (name: string) => (await server.call(`${keys}/${name}`)).json.spec?.disabled === true

describe('report-leak', () => {
  test('leaves a key that keys list and keys show call leaked, with when, where and what to do', async () => {
    const { name, value } = await createKey()
    const url = 'https://git.example.com/a/b#L1'
    await server.call('/leaks', { method: 'POST', token: '', body: { credentials: [value], url } })
    const shown = async () => (await cli.run(['keys', 'show', name])).stdout
    const found = await shown()
    expect(found).toMatch(/^State +leaked$/m)
    expect(found).toMatch(new RegExp(`^Leak reported .*, found at ${url}$`, 'm'))
    expect(found).toMatch(
      new RegExp(`^To use it again +keyplane rotate ${name}, then keyplane keys enable ${name}$`, 'm'),
    )
    await cli.run(['keys', 'enable', name])
    expect(await shown()).toMatch(new RegExp(`^To use it again +keyplane rotate ${name}$`, 'm'))
    expect((await cli.run(['keys', 'list'])).stdout).toMatch(new RegExp(`^${name} .* leaked *$`, 'm'))
  })

  /** The environment of somebody who has no key. */
  const stranger = { KEYPLANE_URL: undefined, KEYPLANE_KEY: undefined }

  // threat: rotation-6
  test('ends the keys in a file without a login, and shows no value', async () => {
    const [one, two] = [await createKey(), await createKey()]
    const wrong = `${one.value.slice(0, -1)}${one.value.endsWith('a') ? 'b' : 'a'}`
    const log = await cli.write('build.log', `start\nkey=${one.value}\n${wrong}\n"${two.value}" ${one.value}x\n`)
    const ran = await cli.run(['report-leak', log, '--server', server.base], { env: stranger })
    expect([ran.code, ran.stdout]).toEqual([0, ''])
    expect(ran.stderr).toContain(
      `2 access keys in ${log}: …${one.value.slice(-6)} (line 2, 4), …${two.value.slice(-6)} (line 4).`,
    )
    expect(ran.stderr).not.toContain(one.value.slice(4, 20))
    expect([await isDisabled(one.name), await isDisabled(two.name)]).toEqual([true, true])
    expect((await use(one.value))[1]).toContain('reported as leaked')
  })

  test('reads standard input, texts in UTF-16, and more keys than one report may have', async () => {
    const { name, value } = await createKey()
    const other = Array.from({ length: 60 }, () => server.parts.keys.generate())
    const input = Buffer.from(`${other.join('\n')}\n${value}\n`, 'utf16le').toString('latin1')
    const ran = await cli.run(['report-leak', '-o', 'json'], { env: { KEYPLANE_KEY: undefined }, input })
    expect([ran.code, JSON.parse(ran.stdout).keys.length]).toEqual([0, 61])
    expect(await isDisabled(name)).toBe(true)
  })

  test('finds keys in base64, as Secrets have them', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const make = () => server.parts.keys.generate()
    const [plain, inData, inConfig, inNestedData] = [make(), make(), make(), make()]
    const config = `users:\n- user: {token: ${inConfig}}\n- user: {data: ${base64(`x ${inNestedData}`)}}\n`
    const input = `kind: Secret\nstringData: {key: ${plain}}\ndata:\n  key: ${base64(inData)}\n  kubeconfig: ${base64(config)}\n`
    const ran = await cli.run(['report-leak', '--dry-run', '-o', 'json'], { env: { KEYPLANE_KEY: undefined }, input })
    const found = JSON.parse(ran.stdout).keys
    expect(found.map(({ hint, lines }: { hint: string; lines: number[] }) => [hint, lines])).toEqual([
      [plain.slice(-6), [2]],
      [inData.slice(-6), [4]],
      [inConfig.slice(-6), [5]],
      [inNestedData.slice(-6), [5]],
    ])
  })

  test('sends the place, and nothing with --dry-run', async () => {
    const { name, value } = await createKey()
    const requests: string[] = []
    front.act = (_, { path }) => {
      requests.push(path)
      return false
    }
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: 'front.crt' }
    expect((await cli.run(['report-leak', '--dry-run'], { env, input: value })).code).toBe(0)
    expect([requests, await isDisabled(name)]).toEqual([[], false])
    const url = 'https://git.example.com/shop/app'
    expect((await cli.run(['report-leak', '--url', url], { env, input: value })).code).toBe(0)
    expect([requests, await isDisabled(name)]).toEqual([['/leaks', '/leaks'], true])
  })

  test('fails if there is no key, no file or no server', async () => {
    for (const [args, input, env, code, message] of [
      [[], 'mpk_', {}, 1, 'There is no access key in standard input.'],
      [['nothing.log'], '', {}, 1, 'Cannot read nothing.log: it does not exist.'],
      [[cli.home], '', {}, 1, ': it is a folder.'],
      [[], server.parts.keys.generate(), stranger, 2, 'No server is named.'],
      [['--server', 'http://x'], server.parts.keys.generate(), stranger, 2, 'must begin with https://'],
    ] as const) {
      const ran = await cli.run(['report-leak', ...args], { input, env })
      expect([args, ran.code, ran.stderr]).toEqual([args, code, expect.stringContaining(message)])
    }
  })
})

describe('revoke', () => {
  test('shows the keys with --dry-run, and disables them with --yes', async () => {
    const labels = { run: 'shown' }
    const [one, two] = [await createKey({}, { labels }), await createKey({ user: 'bob' }, { labels })]
    const dry = await cli.run(['revoke', '-l', 'run=shown', '--dry-run'])
    expect([dry.code, dry.stderr]).toEqual([0, ''])
    expect(dry.stdout).toMatch(new RegExp(`${one.name} +alice +Job +never +never\n${two.name} +bob `))
    expect(dry.stdout).toContain('2 access keys: 1 of alice, 1 of bob\n')
    expect(await isDisabled(one.name)).toBe(false)
    const done = await cli.run(['revoke', '-l', 'run=shown', '--yes', '--reason', 'incident 7'])
    expect(done).toEqual({ code: 0, stdout: '', stderr: '2 access keys are disabled.\n' })
    expect([await isDisabled(one.name), await isDisabled(two.name)]).toEqual([true, true])
    expect((await cli.run(['revoke', '-l', 'run=shown', '--yes'])).stderr).toBe('No access key matches.\n')
  })

  test('does nothing without a terminal and without --yes, and nothing if more keys match than --at-most', async () => {
    const { name } = await createKey({}, { labels: { run: 'careful' } })
    const asked = await cli.run(['revoke', '-l', 'run=careful'])
    expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--dry-run, then repeat it with --yes')])
    const most = await cli.run(['revoke', '-l', 'run=careful', '--yes', '--at-most', '0'])
    expect(most).toMatchObject(
      says(4, '--at-most: Invalid value: 0: the request selects 1 access key, and has changed'),
    )
    expect(await isDisabled(name)).toBe(false)
  })

  test('selects by each option', async () => {
    const { name } = await createKey({ user: 'carol' }, { labels: { run: 'each', tier: 'a' } })
    const child = await server.call(keys, {
      method: 'POST',
      body: { metadata: { name: 'made' }, spec: { displayName: 'made' } },
      token: server.adminKey,
    })
    expect(child.status).toBe(201)
    const matched = async (...args: string[]) => {
      const stdout = await cli.ok(['revoke', '--dry-run', '-o', 'json', ...args])
      return JSON.parse(stdout).status.keys.map((key: { name: string }) => key.name)
    }
    const only = ['-l', 'run in (each,other),tier,!none,run!=x']
    for (const args of [
      ['--user', 'carol,dave'],
      ['--name', name],
      [...only, '--type', ''],
      [...only, '--unscoped'],
    ])
      expect([args, await matched(...args)]).toEqual([args, [name]])
    for (const args of [
      ['--team', 'nobody'],
      ['--subject', 'nobody'],
      [...only, '--created-before', '1d'],
      [...only, '--unused-since', '90d'],
      ['--made-with', name],
      ['--made-with', name, '--no-descendants'],
      ['--made-with', '01234567-89ab-4def-8123-456789abcdef'],
    ])
      expect([args, await matched(...args)]).toEqual([args, []])
    expect(await matched('--all')).toContain(name)
  })

  test('warns of the trusts of a user, and closes them with --trusts', async () => {
    await server.make(providers, provider('company', { issuer: 'https://login.example.com' }))
    const claims = [{ claim: 'sub', values: ['job'] }]
    await server.make(trusts, trust('erin-ci', { identityProvider: 'company', claims, scope: {}, user: 'erin' }))
    const { name } = await createKey({ user: 'erin' })
    const without = await cli.run(['revoke', '--user', 'erin', '--yes'])
    expect([without.code, without.stderr]).toEqual([
      0,
      expect.stringContaining('(erin-ci) may keep issuing access keys'),
    ])
    expect(await isDisabled(name)).toBe(true)
    const all = ['revoke', '--user', 'erin', '--trusts']
    expect(await cli.ok([...all, '--dry-run'])).toMatch(
      /^No access key matches\.\nNAME.*\nerin-ci +erin .*company\n1 trust\n$/,
    )
    const done = await cli.run([...all, '--yes'])
    const said = '0 access keys are disabled.\n1 trust is disabled.\n'
    expect(done).toEqual({ code: 0, stdout: '', stderr: said })
    expect((await server.call(`${trusts}/erin-ci`)).json.spec.disabled).toBe(true)
  })

  test('deletes permanently with --delete', async () => {
    const { name } = await createKey({}, { labels: { run: 'gone' } })
    expect((await cli.run(['revoke', '-l', 'run=gone', '--delete', '--yes'])).stderr).toBe('1 access key is deleted.\n')
    expect((await server.call(`${keys}/${name}`)).status).toBe(404)
  })

  test('repeats while keys remain, and after a lost answer', async () => {
    const labels = { run: 'many' }
    const made = await Promise.all(Array.from({ length: 5 }, () => createKey({}, { labels })))
    let [answers, lost] = [0, 0]
    front.act = (moment, { path }) => moment === 'after' && path.endsWith('revocations') && ++lost === 2
    front.change = (text, path) => {
      if (!path.endsWith('revocations')) return text
      const answer = JSON.parse(text)
      const isFirst = ++answers === 1
      const unconfirmed = { keys: 1, clusters: isFirst ? ['staging'] : ['prod', 'staging'] }
      return JSON.stringify({
        ...answer,
        status: { ...answer.status, ...(isFirst && { remaining: true }), unconfirmed },
      })
    }
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: 'front.crt' }
    const ran = await cli.run(['revoke', '-l', 'run=many', '--yes'], { env })
    front.change = (text) => text
    const left = '2 clusters have not confirmed: prod, staging. Tokens of 2 access keys may still work there.\n'
    expect(ran).toEqual({ code: 0, stdout: '', stderr: `5 of 5 …\n5 access keys are disabled.\n${left}` })
    expect([lost, answers]).toEqual([3, 2])
    expect(await Promise.all(made.map(({ name }) => isDisabled(name)))).toEqual(made.map(() => true))
  })

  test('may be killed, and continues', async () => {
    const { name } = await createKey({}, { labels: { run: 'killed' } })
    const env = { KEYPLANE_URL: front.base, KEYPLANE_CA: 'front.crt' }
    front.act = (moment, { path }) => {
      if (moment === 'before' || !path.endsWith('revocations')) return false
      running.kill('SIGKILL')
      return true
    }
    const running = await cli.start(['revoke', '-l', 'run=killed', '--yes'], { env })
    expect((await running.ended).code).toBe(null)
    expect((await cli.run(['revoke', '-l', 'run=killed', '--yes'])).code).toBe(0)
    expect(await isDisabled(name)).toBe(true)
  })

  test('names its options where the server names fields', async () => {
    const own = (await cli.ok(['whoami', '-o', 'name'])).trim()
    const spared = await cli.run(['revoke', '--name', own, '--dry-run'])
    expect(spared.stderr).toContain('is left out: set --include-self to revoke it')
    const gone = await cli.run(['revoke', '--made-with', 'gone', '--dry-run'])
    expect(gone).toMatchObject(says(4, '--made-with: Invalid value: "gone"'))
    const when = await cli.run(['revoke', '--unused-since', 'banana', '--dry-run'])
    expect(when).toMatchObject(says(2, '--unused-since must be a duration such as 90d, a day such as'))
  })

  test('refuses what makes no sense', async () => {
    for (const args of [
      [],
      ['--no-descendants', '--all'],
      ['--created-before', 'yesterday'],
      ['--created-before', '2026-02-31'],
      ['--created-before', '2026-11-22T10:00:00'],
      ['--unused-since', '99999999w'],
      ['--at-most', 'x', '--all'],
      ['-l', 'a in b'],
    ]) {
      expect([args, (await cli.run(['revoke', '--yes', ...args])).code]).toEqual([args, 2])
    }
  })
})

describe('explain', () => {
  const scope = { projects: [{ project: 'shop' }] }

  test('shows each step, and the entry that would allow the request', async () => {
    const { name } = await createKey({ scope })
    const { code, stdout } = await cli.run(['explain', name, 'get', 'vci/dev', '-n', 'p-other'])
    expect(code).toBe(1)
    expect(stdout).toContain(`get vci/dev with access key "${name}": not allowed\n`)
    expect(stdout).toMatch(/✓ the key +\S/)
    expect(stdout).toMatch(/✗ scope +spec\.scope does not allow get of virtualclusterinstances "dev"/)
    expect(stdout).toMatch(/would allow it[\s\S]*resourceNames:\n +- dev/)
    expect(stdout).toMatch(new RegExp(`^To add it: keyplane keys edit ${name} --rule '.*"dev".*'$`, 'm'))
  })

  test('says that the scope and the rights allow a request, and that a cluster decides by itself', async () => {
    const { name } = await createKey({ scope: { clusters: [{ cluster: 'west' }] } })
    const { stdout, stderr } = await cli.run(['explain', name, 'list', 'pods', '-n', 'web', '--cluster', 'west'])
    expect(stderr).toContain('the token may have an older scope of the key')
    expect(stdout).toContain('list pods with access key')
    expect(stdout).toMatch(/✓ scope/)
    expect(stdout).toMatch(/\? rights/)
    const own = await cli.run(['explain', 'create', 'ownedaccesskey'])
    expect([own.code, own.stderr, own.stdout]).toEqual([0, '', expect.stringMatching(/: allowed\n/)])
  })

  test('says with another key what a scope forbids a key to ask about itself', async () => {
    const { name, value } = await createKey({ scope })
    const ran = await cli.run(['explain', 'list', 'virtualclusterinstances'], { env: { KEYPLANE_KEY: value } })
    expect(ran).toMatchObject(says(4, `Ask with another key: keyplane explain ${name} VERB RESOURCE`))
  })

  test('asks about addresses, paths, subresources and groups', async () => {
    const { name } = await createKey({ sourceCIDRs: ['192.0.2.0/24'] })
    const review = async (...args: string[]) => {
      const { stdout } = await cli.run(['explain', name, ...args, '-o', 'json'])
      return JSON.parse(stdout)
    }
    const { spec, status } = await review('get', '/metrics', '--from', '198.51.100.1')
    expect(spec).toEqual({ nonResourceAttributes: { verb: 'get', path: '/metrics' }, sourceIP: '198.51.100.1' })
    expect(status.steps).toContainEqual(expect.objectContaining({ check: 'source', allowed: false }))
    const args = [
      'create',
      'deployments.apps/web',
      '--subresource',
      'scale',
      '-n',
      's',
      '--virtual-cluster',
      'shop/dev',
    ]
    expect((await review(...args)).spec).toEqual({
      resourceAttributes: {
        verb: 'create',
        group: 'apps',
        resource: 'deployments',
        name: 'web',
        namespace: 's',
        subresource: 'scale',
      },
      target: { virtualCluster: { project: 'shop', name: 'dev' } },
    })
  })

  test.each([
    ['vci', [], { group: 'management.platform', resource: 'virtualclusterinstances' }],
    ['VCI.management.platform', [], { group: 'management.platform', resource: 'virtualclusterinstances' }],
    ['ns', [], { group: '', resource: 'namespaces' }],
    ['tokenreview', [], { group: 'authentication.k8s.io', resource: 'tokenreviews' }],
    ['po', ['--cluster', 'west'], { group: '', resource: 'pods' }],
    ['Deployment', ['--cluster', 'west'], { group: 'apps', resource: 'deployments' }],
    ['ingress', ['--space', 'shop/dev'], { group: 'networking.k8s.io', resource: 'ingresses' }],
    ['netpol', ['--virtual-cluster', 'shop/dev'], { group: 'networking.k8s.io', resource: 'networkpolicies' }],
    ['app.argoproj.io', ['--cluster', 'west'], { group: 'argoproj.io', resource: 'app' }],
  ])('understands %s %j as kubectl does', async (word, place, resource) => {
    const { stdout } = await cli.run(['explain', 'get', word, ...place, '-o', 'json'])
    expect(JSON.parse(stdout).spec.resourceAttributes).toEqual({ verb: 'get', ...resource })
  })

  test('refuses what makes no sense, and names the nearest resource', async () => {
    for (const [args, message] of [
      [['get'], 'needs a verb and a resource'],
      [['get', 'pods/a/b'], 'not RESOURCE/NAME'],
      [['get', '/metrics', '-n', 's'], 'A path has no namespace'],
      [['get', 'pods', '--cluster', 'c', '--space', 'a/b'], 'Only one of'],
      [['get', 'ownedaccesskeyz'], 'did you mean "ownedaccesskeys"?'],
      [['get', 'vcis.management.platform'], 'This API has no resource "vcis"'],
      [['frob', 'ownedaccesskeys'], 'Error: "frob" is not a verb: it is one of get, list, watch, create, update,'],
      [['GET', 'ownedaccesskeys'], 'did you mean "get"?'],
      [['lst', 'pods', '--cluster', 'c'], '"lst" is not a verb: did you mean "list"?'],
      [['list', '/metrics'], 'it is one of get, put, post,'],
    ] as const) {
      const { code, stderr } = await cli.run(['explain', ...args])
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
    }
    expect((await cli.run(['explain', 'no-such-key', 'get', 'pods', '--cluster', 'c'])).code).toBe(4)
  })
})

describe('whose', () => {
  test('says whose value standard input is, and shows no value', async () => {
    const { name, value } = await createKey({ user: 'wanda' })
    const found = await cli.run(['whose'], { input: `  ${value}\n` })
    expect(found).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^Key +key-\d+\nOwner +wanda\nState +active\n$/),
      stderr: '',
    })
    expect(await cli.run(['whose', '-o', 'name'], { input: value })).toEqual({
      code: 0,
      stdout: `${name}\n`,
      stderr: '',
    })
    const { code, stdout, stderr } = await cli.run(['whose', '-o', 'json'], { input: value })
    expect([code, JSON.parse(stdout).status.owner, stdout.includes(value), stderr]).toEqual([0, 'wanda', false, ''])
    await server.call('/leaks', { method: 'POST', token: '', body: { credentials: [value] } })
    expect((await cli.run(['whose'], { input: value })).stdout).toContain('does not have this value any more')
  })

  test('ends with 1 for a value of no key that one may read', async () => {
    const { value } = await createKey({ user: 'wanda' })
    const env = { KEYPLANE_KEY: (await createKey()).value }
    const nothing = { code: 1, stdout: '', stderr: 'No access key that you may read has this value.\n' }
    expect(await cli.run(['whose'], { input: value, env })).toEqual(nothing)
    expect(await cli.run(['whose', '--yes'], { input: 'u'.repeat(40), env })).toEqual(nothing)
  })

  // threat: lookups-3
  test('sends and shows nothing that is not a whole value, or is an argument', async () => {
    const { value } = await createKey()
    const calls = server.log.length
    for (const [args, input] of [
      [[], ''],
      [[], value.slice(0, -1)],
      [[], `${value} ${value}`],
      [[value], value],
      [['--yes'], `ghp_${'u'.repeat(36)}`],
      [['--yes'], `mpk_${'u'.repeat(49)}`],
      [[], 'u'.repeat(40)],
      [['--url', 'https://a.example'], value],
      [['--report-leak', '--url', `https://a.example/${value}`], value],
    ] as const) {
      const { code, stdout, stderr } = await cli.run(['whose', ...args], { input })
      expect([code, stdout, stderr.includes(value.slice(0, 20))]).toEqual([2, '', false])
    }
    expect(server.log).toHaveLength(calls)
  })

  test('asks before it sends a text that does not look like a key', async () => {
    const value = `supplied-${'u'.repeat(32)}`
    await createKey({ key: value, user: 'wanda' })
    const calls = server.log.length
    const asked = (input: string) => cli.run(['whose'], { input, isTerminal: true })
    const no = await asked(`${value}\nn\n`)
    expect([no.code, no.stderr]).toEqual([0, expect.stringContaining('Send it anyway? [y/N]')])
    expect([server.log.length, no.stdout + no.stderr]).toEqual([calls, expect.not.stringContaining('uuuu')])
    expect(await asked(`${value}\ny\n`)).toMatchObject({ code: 0, stdout: expect.stringContaining('Owner  wanda') })
  })

  test('disables the key, and reports the value with where it was found', async () => {
    const { name, value } = await createKey({ user: 'wanda' })
    const key = async () => (await server.call(`${keys}/${name}`)).json
    expect(await cli.run(['whose', '--disable', '--yes', '-o', 'name'], { input: value })).toEqual({
      code: 0,
      stdout: `${name}\n`,
      stderr: `${name} is disabled.\n`,
    })
    expect((await key()).spec.disabled).toBe(true)
    const ran = await cli.run(['whose', '--report-leak', '--url', 'https://paste.example/1'], { input: value })
    expect([ran.code, ran.stderr]).toEqual([
      0,
      expect.stringMatching(/^Reported to http\S+\. Keys that were valid there/),
    ])
    expect((await key()).status).toMatchObject({ phase: 'Leaked', leak: { url: 'https://paste.example/1' } })
  })
})
