/** The commands of access keys against the whole API. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { Io } from '../../../clients/cli/src/io/io.ts'
import { demandTerminal } from '../../../clients/cli/src/output/confirm.ts'
import { historyItem } from '../../../lib/keys/history/items.ts'
import { unhurried } from '../../support/deadlines.ts'
import { publishEvents, useServer } from '../../support/sharedserver.ts'
import { says, useCommandLine } from './commandline.ts'
import { givenClock } from './credentials/testio.ts'
import cases from './vectors/keys.cases.json' with { type: 'json' }

const KEYS = '/apis/management.platform/v1/ownedaccesskeys'
const VALUE = /^mpk_[0-9A-Za-z]{49}$/

const server = useServer()
const cli = useCommandLine(server)

const stored = async (name: string) => (await server.call(`${KEYS}/${name}`)).json
const create = (...args: string[]) => cli.run(['keys', 'create', ...args])

test('a key is created, listed, shown, disabled, enabled and deleted', async () => {
  const name = 'ci-one'
  const clock = givenClock()
  const run = (...args: string[]) => cli.run(['keys', ...args], { clock })
  const created = await run('create', name, '--user', 'alice', '--project', 'shop', '--ttl', '30d')
  expect(created).toEqual({ code: 0, stdout: expect.stringMatching(VALUE), stderr: expect.any(String) })
  expect(created.stderr).toMatch(
    /^Created the access key .*\n {2}Name +ci-.*\n {2}Owner +alice\n {2}May do +project shop\n[\s\S]*This is its value\. It is shown only now:\n$/,
  )
  const self = await server.call('/apis/management.platform/v1/selves', {
    method: 'POST',
    body: {},
    token: created.stdout.trim(),
  })
  expect(self.json.status.accessKey).toBe(name)
  expect((await run('list', '--owner', 'alice')).stdout).toMatch(
    new RegExp(
      `^NAME +OWNER +MAY DO +LAST USED +EXPIRES +STATE\n(.*\n)*${name} +alice +project shop +just now +in 30d +active\n`,
    ),
  )
  expect((await run('show', name)).stdout).toMatch(/^Expires +in 30d \(\d{4}-\d\d-\d\dT[\d:]+Z\)$/m)
  expect(await run('disable', name, '--yes', '--reason', 'left')).toEqual({
    code: 0,
    stdout: '',
    stderr: `${name} is disabled.\n`,
  })
  const reasonOf = async () => (await stored(name)).metadata.annotations?.['management.platform/disabled-reason']
  expect([(await stored(name)).status.phase, await reasonOf()]).toEqual(['Disabled', 'left'])
  expect([(await run('disable', name, '--yes')).code, await reasonOf()]).toEqual([0, undefined])
  await run('disable', name, '--yes', '--reason', 'again')
  expect(await run('enable', name, '-o', 'name')).toEqual({ code: 0, stdout: `${name}\n`, stderr: '' })
  expect([(await stored(name)).status.phase, await reasonOf()]).toEqual(['Active', undefined])
  expect(await run('delete', name, '--yes')).toEqual({ code: 0, stdout: '', stderr: `${name} is deleted.\n` })
  expect((await stored(name)).reason).toBe('NotFound')
})

// threat: events-10
test('the history of a key is a time line and its family, without unprintable characters', async () => {
  const clock = givenClock()
  await publishEvents()
  const maker = await server.makeKey({ user: 'alice' })
  const key = await server.makeKey({}, { name: 'ci-history' }, maker.token)
  const child = await server.makeKey({}, {}, key.token)
  await publishEvents()
  const detail = { actor: { user: 'e\u001b[2Jve' }, fields: ['spec.ttl'], ip: '192.0.2.1' }
  const item = historyItem(key.uid, { kind: 'changed', at: Math.floor(Date.now() / 1000) + 1, detail }, '')
  await server.parts.storage.writeCompanion(item, unhurried)
  const lines = (await cli.ok(['history', key.name], { clock }))
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, '|'))
  expect(lines).toEqual([
    'WHEN|WHAT|BY|DETAILS',
    String.raw`just now|lifetime changed|e\u{1b}[2Jve|from 192.0.2.1`,
    'just now|used for the first time|from 127.0.0.1',
    `just now|created|alice with ${maker.name}`,
    'What happened in the last minute may be missing.',
    '',
    expect.stringMatching(/^History since\|2/),
    `Made with|${maker.name}`,
    `Made|${child.name}, just now, active`,
    '',
  ])
  expect(JSON.parse(await cli.ok(['history', key.name, '-o', 'json']))).toMatchObject({ kind: 'OwnedAccessKeyHistory' })

  const all = (await cli.ok(['history'], { clock })).split('\n').map((line) => line.replaceAll(/ {2,}/g, '|'))
  expect(all.slice(0, 2)).toEqual([
    'WHEN|KEY|WHAT|BY|DETAILS',
    String.raw`just now|ci-history|lifetime changed|e\u{1b}[2Jve|from 192.0.2.1`,
  ])
  expect(all).toContain(`just now|${child.name}|created|alice with ci-history`)
  expect(await cli.run(['history', '--since', '2999-01-01'])).toMatchObject(
    says(0, 'Nothing has happened since 2999', ''),
  )
  expect(await cli.run(['history', key.name, '--since', '1h'])).toMatchObject(
    says(2, '--since is for the history of all keys'),
  )
})

describe('a text that is not a name', () => {
  test.each(['', '.', '..', '../selves', 'a/b', '%2e'])('%j deletes nothing, least of all every key', async (text) => {
    for (const args of [['delete', '--yes'], ['show'], ['disable', '--yes']]) {
      const { code, stderr } = await cli.run(['keys', ...args, text])
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining('is not the name of an access key.')])
    }
    expect((await cli.run(['whoami'])).code).toBe(0)
  })
})

describe('keys create', () => {
  test('sets every field that it has an option for', async () => {
    const rule = { verbs: ['get'], resources: [{ group: '', resources: ['pods'] }] }
    const options = [
      ['--display-name', 'All of it', '--description=- a dash', '--ttl', '1d12h', '--ttl-after-last-activity'],
      ['--project', 'a,b', '--project', 'c', '--virtual-cluster', 'a/x', '--space', 'a/s', '--cluster', 'west'],
      ['--role', 'runner=a,b/y', '--role', 'agent', '--rule', JSON.stringify(rule)],
      [
        '--from',
        '10.0.0.0/8,203.0.113.7',
        '--from',
        '2001:db8::/32',
        '--team',
        'ops',
        '--group',
        'g1',
        '--group',
        'g2',
      ],
      ['-l', 'app=shop', '--label', 'empty='],
    ]
    expect(await create('all', ...options.flat())).toMatchObject({ code: 0 })
    const { metadata, spec, status } = await stored('all')
    expect(metadata.labels).toEqual({ app: 'shop', empty: '' })
    expect(status.owner).toBe('team:ops')
    expect(spec).toEqual({
      displayName: 'All of it',
      description: '- a dash',
      team: 'ops',
      groups: ['g1', 'g2'],
      ttl: 129_600,
      ttlAfterLastActivity: true,
      sourceCIDRs: ['10.0.0.0/8', '203.0.113.7', '2001:db8::/32'],
      scope: {
        roles: [{ role: 'runner', projects: ['a'], virtualClusters: ['b/y'] }, { role: 'agent' }],
        projects: [{ project: 'a' }, { project: 'b' }, { project: 'c' }],
        spaces: [{ project: 'a', space: 's' }],
        virtualClusters: [{ project: 'a', virtualCluster: 'x' }],
        clusters: [{ cluster: 'west' }],
        rules: [rule],
      },
    })
    expect(await cli.ok(['keys', 'show', 'all'])).toMatch(
      /^May do +role runner in project a for virtual cluster b\/y; role agent; projects a, b, c; virtual cluster a\/x; space a\/s; cluster west; 1 rule$/m,
    )
  })

  test('prints the object with -o json and -o yaml, and only the name with -o name', async () => {
    const json = await create('--user', 'bob', '--self-rotate', '--ttl', '1d', '-o', 'json')
    const { metadata, spec } = JSON.parse(json.stdout)
    expect([metadata.name, spec.key]).toEqual([expect.stringMatching(/^key-/), expect.stringMatching(/^mpk_/)])
    expect(spec.scope).toEqual({ roles: [{ role: 'selfRotate' }] })
    expect((await create('in-yaml', '--ttl', '1d', '-o', 'yaml')).stdout).toMatch(
      /^kind: OwnedAccessKey$[\s\S]*^ {2}key: mpk_\w+$/m,
    )
    const named = await create('only-name', '--ttl', '1d', '-o', 'name')
    expect(named).toEqual({
      code: 0,
      stdout: 'only-name\n',
      stderr: expect.stringContaining('The value is not printed'),
    })
  })

  test('warns once of each limit that a key lacks', async () => {
    const warnings = async (...args: string[]) =>
      (await create(...args)).stderr.split('\n').filter((line) => line.startsWith('Warning:'))
    const [noScope, noEnd] = [/has no scope and may do everything that \S+ may.*--project/, /never expires.*--ttl/]
    expect(await warnings()).toEqual([expect.stringMatching(noScope), expect.stringMatching(noEnd)])
    expect(await warnings('--ttl', '1d')).toEqual([expect.stringMatching(noScope)])
    expect(await warnings('--project', 'a', '--dry-run')).toEqual([expect.stringMatching(noEnd)])
    expect(await warnings('--project', 'a', '--ttl', '1d', '-o', 'json')).toEqual([])
    // What the server says needs no second sentence.
    expect(await warnings('--user', 'bob')).toEqual([expect.stringMatching(/never expires and has all permissions/)])
  })

  test('hints at a project that the caller does not see, and only of those that they see', async () => {
    const alice = await server.makeKey({ user: 'alice' })
    const instance = (namespace: string, name: string, spec: object) =>
      server.make(`/apis/management.platform/v1/namespaces/${namespace}/virtualclusterinstances`, {
        apiVersion: 'management.platform/v1',
        kind: 'VirtualClusterInstance',
        metadata: { name },
        spec,
      })
    await instance('p-shop', 'eu', { owner: { user: 'alice' } })
    await instance('p-secret', 'eu', {})
    const asAlice = async (project: string) =>
      (await cli.run(['keys', 'create', '--project', project, '--ttl', '1d'], { env: { KEYPLANE_KEY: alice.token } }))
        .stderr
    expect(await asAlice('shpo')).toContain('You see no virtual cluster in a project "shpo". Did you mean "shop"?\n')
    expect(await asAlice('secert')).toContain('You see no virtual cluster in a project "secert".\n')
    expect(await asAlice('shop')).not.toContain('You see no')
    expect((await create('--project', 'secert', '--ttl', '1d')).stderr).toContain('Did you mean "secret"?')
  })

  // threat: rotation-8
  test('ends the line of the value in a terminal alone', async () =>
    expect((await cli.run(['keys', 'create', '--ttl', '1d'], { isTerminal: true })).stdout).toMatch(/^mpk_\w{49}\n$/))

  // threat: rotation-8
  test('writes the value to a file that only its owner can read, and nowhere else', async () => {
    const file = join(cli.home, 'ci.key')
    const { code, stdout, stderr } = await create(
      'in-file',
      '--project',
      'a',
      '--ttl',
      '1d',
      '--key-file',
      file,
      '-o',
      'json',
    )
    expect([code, (await stat(file)).mode & 0o777]).toEqual([0, 0o600])
    expect(await readFile(file, 'utf8')).toMatch(VALUE)
    expect(stdout + stderr).not.toContain('mpk_')
    expect(await cli.ok(['whoami', '-o', 'name'], { env: { KEYPLANE_KEY: undefined, KEYPLANE_KEY_FILE: file } })).toBe(
      'in-file\n',
    )
  })

  // threat: cli-5
  test('creates no key when its file cannot be written', async () => {
    const other = await cli.write('other.key', 'the only copy')
    for (const [file, code, message] of [
      ['nowhere/ci.key', 1, /^Error: Cannot write nowhere\/ci\.key: the folder \/.*\/nowhere does not exist\.$/m],
      [cli.home, 2, 'is not a regular file'],
      [other, 2, 'other.key exists, and is not overwritten.'],
      ['-', 2, '- is not a file.'],
    ] as const) {
      expect(await create('unwritten', '--ttl', '1d', '--key-file', file)).toMatchObject(says(code, message, ''))
    }
    expect([(await stored('unwritten')).code, await readFile(other, 'utf8')]).toEqual([404, 'the only copy'])
  })

  // threat: cli-5
  test('makes the file before the key, so that two commands do not write to one, and removes it without a key', async () => {
    const file = join(cli.home, 'one.key')
    const names = ['one', 'other']
    const ran = await Promise.all(names.map((name) => create(name, '--ttl', '1d', '--key-file', file)))
    expect(ran.map(({ code }) => code).sort()).toEqual([0, 2])
    const made = names.filter((_, index) => ran[index]?.code === 0)
    expect((await stored(names.find((name) => name !== made[0]) ?? '')).code).toBe(404)
    const env = { KEYPLANE_KEY: undefined, KEYPLANE_KEY_FILE: file }
    expect(await cli.ok(['whoami', '-o', 'name'], { env })).toBe(`${made[0]}\n`)
    const refused = join(cli.home, 'refused.key')
    expect(await create('refused', '--from', '10.0.0.1/8', '--key-file', refused)).toMatchObject({ code: 4 })
    expect(await create('dry', '--ttl', '1d', '--dry-run', '--key-file', refused)).toMatchObject({ code: 0 })
    expect(existsSync(refused)).toBe(false)
  })

  test('shows the warning of the server about a key without end and scope', async () => {
    const { code, stdout, stderr } = await create('endless', '--user', 'alice')
    expect([code, stdout]).toEqual([0, expect.stringMatching(VALUE)])
    expect(
      stderr.match(/Warning: access key "endless" never expires and has all permissions of alice\n/g),
    ).toHaveLength(1)
  })

  test('creates nothing in a dry run', async () => {
    expect(await create('dry', '--ttl', '1d', '--dry-run')).toMatchObject(says(0, 'Dry run', ''))
    expect((await stored('dry')).code).toBe(404)
  })

  test.each(cases.refused as [string[], string][])('refuses %j before it sends anything', async (args, message) => {
    expect(await create(...args)).toMatchObject(says(2, message, ''))
  })

  test('prints the causes of a refusal, and exits with 4', async () => {
    const { code, stdout, stderr } = await create('badly', '--from', '10.0.0.1/8')
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toMatch(/^Error: .*is invalid: /)
    expect(stderr).toContain('must be 10.0.0.0/8')
  })

  test('prints the entry that a scope lacks', async () => {
    const key = (await create('narrow', '--project', 'a', '--ttl', '1d')).stdout.trim()
    const { code, stderr } = await cli.run(['keys', 'list'], { env: { KEYPLANE_KEY: key } })
    expect(code).toBe(4)
    expect(stderr).toContain('spec.scope does not allow list of ownedaccesskeys')
    expect(stderr).toContain('"verbs":["list"]')
  })
})

describe('keys list', () => {
  test('reads all pages, and filters by label and owner', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        server.make(KEYS, {
          metadata: { name: `many-${index}`, labels: { many: String(index % 2) } },
          spec: { user: 'carol', ttl: 600 },
        }),
      ),
    )
    const names = (await cli.ok(['keys', 'list', '--owner', 'carol', '-l', 'many=1', '-o', 'name'])).trim().split('\n')
    expect(names.sort()).toEqual(['many-1', 'many-11', 'many-3', 'many-5', 'many-7', 'many-9'])
    const begun = await cli.ok(['keys', 'list', '--owner', 'carol', '--name-prefix', 'many-1', '-o', 'name'])
    expect(begun).toBe('many-1\nmany-10\nmany-11\n')
    expect((await cli.run(['keys', 'list', '--name-prefix', 'Many'])).stderr).toContain('invalid namePrefix')
    await server.make(KEYS, { metadata: { name: 'comma' }, spec: { user: 'a,b=c\\d' } })
    expect(await cli.ok(['keys', 'list', '--owner', 'a,b=c\\d', '-o', 'name'])).toBe('comma\n')
    const maker = await server.makeKey({ user: 'carol' }, { name: 'maker' })
    await server.makeKey({}, { name: 'made' }, maker.token)
    for (const by of ['maker', maker.uid])
      expect(await cli.ok(['keys', 'list', '--owner', 'carol', '--made-with', by, '-o', 'name'])).toBe('made\n')
    expect(JSON.parse(await cli.ok(['keys', 'list', '-l', 'many', '-o', 'json']))).toMatchObject({
      kind: 'OwnedAccessKeyList',
      items: { length: 12 },
    })
    const none = await cli.run(['keys', 'list', '--owner', 'nobody'])
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No access key matches.\n' })
  })

  test('finds the key whose value ends so, also one that a client made, and says which keys do not show it', async () => {
    const generated = await server.makeKey({ user: 'frank' }, { name: 'generated' })
    await server.make(KEYS, { metadata: { name: 'own-form' }, spec: { user: 'frank', key: 'o'.repeat(40) } })
    const find = (...args: string[]) => cli.run(['keys', 'list', '--owner', 'frank', '-o', 'name', ...args])
    const end = generated.token.slice(-6)
    for (const text of [end, `…${end}`])
      expect(await find('--ending', text)).toEqual({ code: 0, stdout: 'generated\n', stderr: '' })
    expect((await find('--ending', end, '--state', 'disabled')).stdout).toBe('')
    expect((await find('--ending', end.slice(2))).stderr).toContain('Give all six characters')
    const alice = await server.makeKey({ user: 'alice' })
    expect((await cli.run(['keys', 'list', '--ending', end], { env: { KEYPLANE_KEY: alice.token } })).stdout).toBe('')
    expect(JSON.stringify((await server.call(`${KEYS}/generated`)).json)).not.toContain(end)
    const rotated = await server.post(`${KEYS}/generated/rotate`, {})
    for (const text of [end, `…${end}`, end.slice(2)])
      expect(await find('--ending', text)).toEqual({ code: 0, stdout: 'generated\n', stderr: '' })
    expect((await find('--ending', rotated.json.status.key.slice(-6))).stdout).toBe('generated\n')
    expect(await find('--ending', 'zzzzz0')).toMatchObject(
      says(0, '1 of 2 keys do not show how their values end, and the server may not know it', ''),
    )
    expect(await find('--ending', generated.token)).toMatchObject(says(2, 'keyplane whose', ''))
    expect((await find('--ending', generated.token)).stderr).not.toContain(end)
  })

  test('selects by state, end and last use, and sorts', async () => {
    const clock = givenClock()
    const make = (name: string, spec: object) =>
      server.make(KEYS, { metadata: { name, labels: { sel: 'yes' } }, spec: { user: 'grace', ...spec } })
    await make('sel-a', { ttl: 600 })
    await make('sel-b', { ttl: 300, disabled: true })
    await make('sel-c', { ttl: 86_400 * 30 })
    await make('sel-d', {})
    const names = async (...args: string[]) =>
      (await cli.ok(['keys', 'list', '--label', 'sel=yes', '-o', 'name', ...args])).trim().split('\n')
    expect(await names()).toEqual(['sel-a', 'sel-b', 'sel-c', 'sel-d'])
    expect(await names('--state', 'disabled')).toEqual(['sel-b'])
    expect(await names('--state', 'expired,disabled')).toEqual(['sel-b'])
    expect(await names('--state', 'active', '--expires-within', '1h')).toEqual(['sel-a'])
    expect(await names('--sort', 'expires')).toEqual(['sel-b', 'sel-a', 'sel-c', 'sel-d'])
    expect(await names('--unused-since', '2126-01-01')).toHaveLength(4)
    expect(await names('--unused-since', '1h')).toEqual([''])
    expect(await cli.run(['keys', 'list', '--state', 'activ'])).toMatchObject(
      says(
        2,
        'must be one of active, disabled, expired, leaked, terminating, unused, not "activ": did you mean active?',
      ),
    )
    expect(await cli.run(['keys', 'list', '--sort', 'color'])).toMatchObject(
      says(2, 'must be one of name, owner, created, last-used, expires'),
    )
    const wide = await cli.ok(['keys', 'list', '-l', 'sel=yes', '-o', 'wide'], { clock })
    expect(wide).toMatch(/^NAME .* ENDING +CREATED +MADE WITH +LABELS +DISPLAY NAME\nsel-a .* just now .*sel=yes\n/)
    expect(await cli.ok(['keys', 'list', '-l', 'sel=yes', '-o', 'jsonpath={.items[*].metadata.name}'])).toBe(
      'sel-a sel-b sel-c sel-d',
    )
  })

  test('shows a rotation and an unlimited key in words', async () => {
    const clock = givenClock()
    await server.make(KEYS, { metadata: { name: 'rotating' }, spec: { user: 'dave' } })
    await server.make(`${KEYS}/rotating/rotate`, {})
    const listed = await cli.ok(['keys', 'list', '--owner', 'dave'])
    expect(listed).toMatch(
      /^rotating +dave +everything its owner and groups may +never +never +active, new value not used yet$/m,
    )
    expect(await cli.ok(['keys', 'show', 'rotating'], { clock })).toMatch(
      /^Created {8}just now \(.*\)$[\s\S]*^Pending value {2}…\w{6}, never used$/m,
    )
  })

  test('show says why and by whom a key was disabled, and the entries of its rules', async () => {
    const clock = givenClock()
    await publishEvents()
    const rules = [{ verbs: ['get'], resources: [{ group: '', resources: ['pods'] }] }]
    await server.make(KEYS, { metadata: { name: 'told' }, spec: { user: 'heidi', scope: { rules } } })
    await cli.run(['keys', 'disable', 'told', '--yes', '--reason', 'left\u001b[2J'])
    await publishEvents()
    const shown = await cli.ok(['keys', 'show', 'told'], { clock })
    expect(shown).toMatch(/^Disabled because +left\\u\{1b\}\[2J\nDisabled by +admin with \S+, just now \(/m)
    expect(shown).toMatch(/^Rule +\{.*pods.*\}$/m)
  })

  test('a name that nothing has is answered with the nearest one', async () => {
    await server.make(KEYS, { metadata: { name: 'nightly-build' }, spec: { user: 'heidi' } })
    const guessed = says(4, /not found\nDid you mean "nightly-build"\?\n$/)
    for (const args of [['keys', 'show'], ['keys', 'delete', '--yes'], ['usage']])
      expect(await cli.run([...args, 'nightly-biuld'])).toMatchObject(guessed)
    expect((await cli.run(['keys', 'show', 'something-else'])).stderr).not.toContain('Did you mean')
  })

  // threat: cli-4
  test('escapes what would change a terminal', async () => {
    const hostile = 'a\u001b]0;pwned\u0007\u202etxt.exe\u009b31m'
    await server.make(KEYS, { metadata: { name: 'hostile' }, spec: { displayName: hostile, user: 'erin' } })
    const shown = await cli.ok(['keys', 'show', 'hostile'])
    expect(shown).toContain('a\\u{1b}]0;pwned\\u{7}\\u{202e}txt.exe\\u{9b}31m')
    expect(JSON.parse(await cli.ok(['keys', 'show', 'hostile', '-o', 'json'])).spec.displayName).toBe(hostile)
  })
})

describe('in a shell', () => {
  const run = async (command: string) => {
    const { PATH } = process.env
    const env = {
      PATH,
      HOME: cli.home,
      KEYPLANE_URL: server.base,
      KEYPLANE_KEY: server.adminKey,
      KEYPLANE_CA: join(cli.home, 'ca.crt'),
      NODE: process.execPath,
      CLI: await cli.install(),
    }
    return promisify(execFile)('bash', ['-c', `keyplane() { "$NODE" "$CLI" "$@"; }; ${command}`], { env })
  }

  test('keys list ends quietly when its reader is gone', async () => {
    const { stdout, stderr } = await run(`keyplane keys list | head -n 1; echo "\${PIPESTATUS[0]}"`)
    expect([stdout, stderr]).toEqual([expect.stringMatching(/^NAME .*\n(0|141)\n$/), ''])
  })

  test('keys create says what to do with a key whose value could not be written', async () => {
    for (const format of ['', '-o json']) {
      const { stdout, stderr } = await run(
        `keyplane keys create unheard --ttl 1d ${format} > /dev/full; echo $?; keyplane keys delete -y unheard`,
      )
      expect([stdout, stderr]).toEqual(['1\n', expect.stringContaining('\nunheard is deleted.\n')])
      expect(stderr).toMatch(
        /^Error: Standard output cannot be written: no space is left\.\nThe access key unheard exists, but its value is lost\. For a new value: keyplane rotate unheard\./m,
      )
    }
  })
})

test('keys delete takes several, and says which is missing', async () => {
  for (const name of ['gone-1', 'gone-2']) await create(name, '--ttl', '1d')
  const { code, stdout, stderr } = await cli.run([
    'keys',
    'delete',
    'gone-1',
    'nothere',
    'gone-2',
    '--yes',
    '-o',
    'name',
  ])
  expect([code, stdout, stderr]).toEqual([4, 'gone-1\ngone-2\n', expect.stringContaining('"nothere" not found')])
})

describe('keys edit', () => {
  const edit = (name: string, ...args: string[]) => cli.run(['keys', 'edit', name, ...args])
  const make = (name: string, spec: object, labels: object = {}) =>
    server.make(KEYS, { metadata: { name, labels }, spec: { user: 'ida', ...spec } })

  test('changes texts, labels, life, scope and addresses, and shows what', async () => {
    await make('edited', { ttl: 600, scope: { projects: [{ project: 'a' }] }, description: 'old' }, { a: '1', b: '2' })
    const ran = await edit(
      'edited',
      ...['--display-name', 'New', '--clear', 'description', '-l', 'a=3', '-l', 'b-', '--for', '30d'],
      ...['--project', 'b', '--cluster', 'eu'],
    )
    expect(ran).toMatchObject(says(0, 'edited is changed. To take the scope back: keyplane advise edited --undo'))
    expect(ran.stderr).toContain('  Display name: none → New\n  Description: old → none\n')
    expect(ran.stderr).toMatch(/ {2}Labels: a=1, b=2 → a=3\n {2}Scope:\n {4}\+ .*project.*b/)
    const { metadata, spec, status } = await stored('edited')
    expect([metadata.labels, spec.displayName, spec.description]).toEqual([{ a: '3' }, 'New', undefined])
    expect(spec.scope).toEqual({ projects: [{ project: 'a' }, { project: 'b' }], clusters: [{ cluster: 'eu' }] })
    const days = (Date.parse(status.expirationTimestamp) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(30)
    await edit('edited', '--until', '2099-01-01')
    expect((await stored('edited')).status.expirationTimestamp).toMatch(/^2099-01-01T00:00:0/)
    expect((await edit('edited', '--no-end', '--no-scope')).stderr).toContain('Scope: none limits the key')
    expect((await stored('edited')).spec).not.toHaveProperty('ttl')
    expect(await edit('edited', '--display-name', 'New')).toMatchObject(says(0, 'edited is so already.'))
  })

  test.each([
    ['a smaller scope', ['--project', 'b', '--only-these']],
    ['a shorter life', ['--for', '1h']],
    ['fewer addresses', ['--from', '10.0.0.0/8']],
  ])('asks before %s', async (_, args) => {
    const name = `less-${args[0]?.slice(2)}`
    await make(name, { ttl: 86_400, scope: { projects: [{ project: 'a' }, { project: 'b' }] } })
    const before = await stored(name)
    expect(await edit(name, ...args)).toMatchObject(says(2, 'There is no terminal to ask in.'))
    const no = await cli.run(['keys', 'edit', name, ...args], { isTerminal: true, input: 'n\n' })
    expect(no).toMatchObject(says(0, /Change \S+\? It gets less\. \[y\/N\] Nothing was changed\.\n$/))
    expect((await edit(name, ...args, '--dry-run')).stderr).toContain('Dry run: the server would change the key so.')
    expect((await stored(name)).metadata.resourceVersion).toBe(before.metadata.resourceVersion)
    expect(await edit(name, ...args, '--yes')).toMatchObject({ code: 0 })
    expect((await stored(name)).metadata.resourceVersion).not.toBe(before.metadata.resourceVersion)
  })

  test('limits a key without a scope only after a question, and does not ask before it gets more', async () => {
    await make('free', { sourceCIDRs: ['10.0.0.0/8'] })
    expect(await edit('free', '--project', 'a')).toMatchObject(says(2, 'The key would get less.'))
    expect(await edit('free', '--from', 'any')).toMatchObject(says(0, 'Used from: 10.0.0.0/8 → anywhere'))
  })

  test('gives the reason of a disabled key, and of no other', async () => {
    await make('reasoned', { disabled: true })
    expect(await edit('reasoned', '--reason', 'left')).toMatchObject(says(0, 'Disabled because: none → left'))
    expect(await edit('reasoned', '--clear', 'reason')).toMatchObject(says(0, 'Disabled because: left → none'))
    expect(await edit('free', '--reason', 'left')).toMatchObject(says(2, '--reason is for a disabled key.'))
  })

  test.each([
    [[], 'What should change?'],
    [['--for', '-5d'], '--for must be a duration such as'],
    [['--until', '2026-02-31'], '--until must be a day'],
    [['--until', '2020-01-01'], '--until must be in the future.'],
    [['--until', '2099-01-01', '--no-end'], 'exclude each other'],
    [['--no-scope', '--project', 'a'], '--no-scope excludes'],
    [['--only-these'], '--only-these needs'],
    [['--clear', 'ttl'], '--clear must be one of display-name, description, reason'],
    [['-l', 'x'], '--label must be NAME=VALUE'],
  ])('refuses %j', async (args, message) => {
    await make('unedited', {}).catch(() => undefined)
    expect(await edit('unedited', ...args)).toMatchObject(says(2, message, ''))
  })
})

test('revoke takes names, as keys revoke does', async () => {
  for (const name of ['rev-1', 'rev-2', 'rev-3']) await create(name, '--ttl', '1d')
  expect(await cli.run(['revoke', 'rev-1', 'rev-2', '--yes'])).toMatchObject(says(0, '2 access keys are disabled.'))
  expect(await cli.run(['keys', 'revoke', 'rev-3', '--yes'])).toMatchObject(says(0, '1 access key is disabled.'))
})

describe('without a terminal, no command ends access without --yes', () => {
  const value = (name: string) => cli.ok(['keys', 'create', name, '--ttl', '1d'])

  test.each([
    ['keys', 'delete', 'kept'],
    ['keys', 'disable', 'kept'],
    ['revoke', '--name', 'kept'],
    ['revoke', '--name', 'kept', '--delete'],
    ['advise', 'kept', '--apply'],
    ['clusters', 'disconnect', 'kept'],
    ['whose', '--disable'],
  ])('%s %s %s', async (...args) => {
    const key = await value('kept').catch(() => '')
    const calls = server.log.length
    const input = args[0] === 'whose' ? key || server.adminKey : 'y\n'
    expect(await cli.run(args, { input })).toMatchObject(says(2, 'There is no terminal to ask in.', ''))
    expect([server.log.length, (await stored('kept')).status.phase]).toEqual([calls, 'Active'])
  })

  test('a question is for a person: both streams must be terminals', async () => {
    const io = (terminals: object) => ({ isTerminal: { in: true, out: true, err: true, ...terminals } }) as Io
    expect(() => demandTerminal(io({ out: false }))).not.toThrow()
    for (const one of [{ in: false }, { err: false }]) expect(() => demandTerminal(io(one))).toThrow('no terminal')
  })

  test('disable asks, and changes no other key of the name', async () => {
    await value('swapped')
    const asked = (input: string) => cli.run(['keys', 'disable', 'swapped'], { isTerminal: true, input })
    const no = await asked('n\n')
    expect(no).toMatchObject(
      says(0, /swapped: of admin, last used never\nDisable this key\? \[y\/N\] Nothing was changed\.\n$/),
    )
    expect((await stored('swapped')).status.phase).toBe('Active')
    expect(await asked('yes\n')).toMatchObject(says(0, 'swapped is disabled.'))
    expect((await stored('swapped')).status.phase).toBe('Disabled')
  })
})
