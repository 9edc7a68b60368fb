/** Logging in and out, and `whoami`, against the whole API. */
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Federation, startFederation } from '../../support/federation.ts'
import { leaveLock } from '../../support/locks.ts'
import { useServer } from '../../support/sharedserver.ts'
import { type CommandLine, createCommandLine, says } from './commandline.ts'

/** A key that no server knows. */
const KEY = `mpk_${'0'.repeat(43)}34O1xt`
const KEYS = '/apis/management.platform/v1/ownedaccesskeys'

const server = useServer()
let ca: string
let cli: CommandLine
beforeEach(async () => {
  cli = await createCommandLine()
  ca = await cli.write('ca.crt', server.certificateAuthority)
  return () => cli.stop()
})

const configFile = () => join(cli.home, '.config/keyplane/config.json')
const config = async () => JSON.parse(await readFile(configFile(), 'utf8'))
const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)
const logIn = (...more: string[]) =>
  cli.run(['login', server.base, '--ca', ca, ...more], { input: `${server.adminKey}\n` })

test('a login is kept, whoami shows it, and a logout forgets it', async () => {
  const run = (...args: string[]) => cli.run(args, { input: server.adminKey })
  const login = await run('login', server.base, '--ca', ca)
  expect(login).toMatchObject(says(0, `Logged in to ${server.base} as admin.`, ''))
  const shown = await run('whoami')
  expect(shown).toMatchObject({ code: 0, stderr: '' })
  expect(shown.stdout).toMatch(
    /^User +admin\nGroups +system:masters, .*\nKey +admin-\w+\nMay do +everything its owner and groups may\nExpires +never\n/,
  )
  expect((await run('whoami', '-o', 'name')).stdout).toMatch(/^admin-\w+\n$/)
  expect(JSON.parse((await run('-o', 'json', 'whoami')).stdout).kind).toBe('Self')
  expect((await run('whoami', '-o=yaml')).stdout).toContain('\nkind: Self\n')
  expect(await run('logout')).toMatchObject({ code: 0, stdout: '' })
  expect(await run('whoami')).toMatchObject(says(2, 'You are not logged in.\nLog in once', ''))
  expect(JSON.stringify(await config())).not.toContain('mpk_')
})

describe('login', () => {
  // threat: cli-1
  test('keeps contexts in a file of 0600 in a folder of 0700', async () => {
    await mkdir(join(cli.home, '.config'), { mode: 0o755 })
    expect(await logIn()).toMatchObject({ code: 0 })
    const { host } = new URL(server.base)
    const name = `${host}/${new URL(server.base).pathname.split('/')[1]}`
    expect(await config()).toEqual({
      currentContext: name,
      contexts: {
        [name]: {
          server: server.base,
          certificateAuthorityData: Buffer.from(server.certificateAuthority).toString('base64'),
          key: server.adminKey,
          projectNamespacePrefix: 'p-',
        },
      },
    })
    expect(await modeOf(configFile())).toBe('600')
    expect(await modeOf(join(cli.home, '.config/keyplane'))).toBe('700')
  })

  test.each([
    ['a file', async () => ['--key-file', await cli.write('key', `${server.adminKey}\n`)], {}],
    ['KEYPLANE_KEY', async () => [], () => ({ KEYPLANE_KEY: server.adminKey })],
    ['KEYPLANE_KEY_FILE', async () => [], async () => ({ KEYPLANE_KEY_FILE: await cli.write('key', server.adminKey) })],
    ['standard input with -', async () => ['--key-file', '-'], () => ({ KEYPLANE_KEY: 'not-this-one' })],
  ])('takes the key from %s', async (_, args, env) => {
    const given = typeof env === 'function' ? await env() : env
    const input = 'KEYPLANE_KEY' in given && given.KEYPLANE_KEY === 'not-this-one' ? server.adminKey : ''
    expect(await cli.run(['login', server.base, '--ca', ca, ...(await args())], { env: given, input })).toMatchObject({
      code: 0,
    })
  })

  test('adds the base path to the URL of the host or the stage', async () => {
    const { code } = await cli.run(['login', server.root, '--ca', ca], { input: server.adminKey })
    expect([code, Object.values<{ server: string }>((await config()).contexts)[0]?.server]).toEqual([0, server.base])
  })

  test('keeps nothing when the server refuses the key', async () => {
    const key = `mpk_${'0'.repeat(43)}34O1xt`
    const { code, stderr } = await cli.run(['login', server.base, '--ca', ca], { input: key })
    expect([code, stderr]).toEqual([4, expect.stringMatching(/^Error: .*\nLog in with a valid key/)])
    expect(stderr).not.toContain(key)
    await expect(stat(configFile())).rejects.toThrow('ENOENT')
  })

  test.each([
    ['no key', '', 'There is no access key on standard input: nothing is there.'],
    [
      'a part of a key',
      `mpk_${'a'.repeat(40)}`,
      'There is no whole access key on standard input: its checksum does not match.',
    ],
    ['two lines', 'one\ntwo', 'There is no access key on standard input: the text has several lines.'],
  ])('refuses %s before it sends anything', async (_, input, message) => {
    const ran = await cli.run(['login', 'https://127.0.0.1:1'], { input })
    expect(ran).toMatchObject(says(2, message, ''))
    if (input) expect(ran.stderr).not.toContain(input)
  })

  // threat: rotation-9
  describe.each<[string, string, string]>([
    ['nothing', ' \n', 'nothing is there'],
    ['two keys', `${KEY}\n${KEY}\n`, 'the text has several lines'],
    ['UTF-16', `\ufffd\ufffd${[...KEY].join('\0')}\0`, 'the text is in UTF-16'],
    ['a header', `Authorization: Bearer ${KEY}`, 'the text begins like a header, not with the key'],
    ['a scheme', `Bearer ${KEY}`, 'the text begins like a header, not with the key'],
    ['a space', `${KEY} x`, 'the text has a space'],
    ['quotation marks', `"${KEY}"`, 'the key is in quotation marks'],
    ['a letter of another alphabet', `${KEY}é`, 'the text has a character that no key has'],
  ])('%s in place of a key is an error at once, without its text,', (_, text, problem) => {
    const unreachable = 'https://127.0.0.1:1'
    test.each<[string, () => Promise<{ args: string[]; env?: object; where: string; input?: string }>]>([
      [
        'from --key-file',
        async () => ({
          args: ['login', unreachable, '--key-file', await cli.write('odd', text)],
          where: `in the file ${join(cli.home, 'odd')}`,
        }),
      ],
      ['on standard input', async () => ({ args: ['login', unreachable], where: 'on standard input', input: text })],
      [
        'from somebody who asks whose it is',
        async () => ({ args: ['whose'], where: 'on standard input', input: text }),
      ],
      [
        'in KEYPLANE_KEY',
        async () => ({
          args: ['whoami'],
          where: 'in KEYPLANE_KEY',
          env: { KEYPLANE_URL: unreachable, KEYPLANE_KEY: text },
        }),
      ],
      [
        'in the file of KEYPLANE_KEY_FILE, for kubectl',
        async () => ({
          args: ['credential', '--cluster', 'west'],
          where: `in the file ${join(cli.home, 'odd')}, which KEYPLANE_KEY_FILE names`,
          env: { KEYPLANE_URL: unreachable, KEYPLANE_KEY_FILE: await cli.write('odd', text) },
        }),
      ],
      [
        'in a context',
        async () => {
          const contexts = { a: { server: unreachable, key: text } }
          const file = await cli.write('odd.json', JSON.stringify({ currentContext: 'a', contexts }))
          return { args: ['whoami'], where: `in the context "a" of ${file}`, env: { KEYPLANE_CONFIG: file } }
        },
      ],
    ])('%s', async (_, given) => {
      const { args, env = {}, where, input = '' } = await given()
      const ran = await cli.run(args, { env: { ...env }, input })
      expect(ran).toMatchObject(says(2, `There is no access key ${where}: ${problem}`, ''))
      expect(ran.stderr).not.toContain(KEY.slice(4, 20))
    })
  })

  // threat: cli-1
  test('does not repeat a key that was given as an argument', async () => {
    const { code, stderr } = await cli.run(['login', server.base, server.adminKey])
    expect([code, stderr]).toEqual([2, expect.stringContaining('<redacted>')])
    expect(stderr).not.toContain(server.adminKey)
  })

  // threat: cli-2
  test.each([
    ['http://127.0.0.1:8443', 'must begin with https://'],
    ['https://me:secret@example.com', 'no user name or password'],
    ['https://example.com?stage=prod', 'no query'],
    ['https://', 'is not a URL'],
  ])('refuses the URL %s', async (url, message) =>
    expect(await cli.run(['login', url], { input: 'k'.repeat(40) })).toMatchObject(says(2, message)),
  )

  test('says how to trust a certificate authority', async () =>
    expect(await cli.run(['login', server.base], { input: server.adminKey })).toMatchObject(
      says(1, /not signed by an authority that this machine trusts\.\n.*--ca FILE/),
    ))

  test('switches between contexts, and logs in again, with the key that is kept', async () => {
    const made = await server.make(KEYS, {
      metadata: { name: 'second' },
      spec: { user: 'alice', scope: { projects: [{ project: 'a' }] } },
    })
    await logIn('--context', 'first')
    await cli.run(['login', server.base, '--ca', ca, '--context', 'second'], { input: made.spec.key })
    expect(await cli.ok(['whoami'])).toMatch(/^User +alice\n.*^May do +project a$/ms)
    expect(await cli.ok(['whoami', '--context', 'first'])).toMatch(/^User +admin$/m)
    expect(await cli.ok(['--context', 'first', 'whoami'])).toMatch(/^User +admin$/m)
    await cli.ok(['login', '--context', 'first'])
    expect(await cli.ok(['whoami'])).toMatch(/^User +admin$/m)
    expect(await cli.run(['whoami', '--context', 'frist'])).toMatchObject(
      says(2, 'There is no context "frist". The contexts are: first, second.', ''),
    )
    expect(await cli.run(['whoami', '--context', 'frist'])).toMatchObject(says(2, 'Did you mean "first"?'))
    const table = await cli.ok(['contexts'])
    expect(table).toMatch(/^CURRENT +NAME +SERVER +CREDENTIAL\n\* +first +https.* +access key\n +second +https/)
    expect(await cli.ok(['contexts', '-o', 'name'])).toBe('first\nsecond\n')
    expect(table + (await cli.ok(['contexts', '-o', 'yaml']))).not.toContain('mpk_')
    expect(await cli.run(['use', 'second'])).toEqual({
      code: 0,
      stdout: '',
      stderr: `The current context is second: ${server.base}\n`,
    })
    expect(await cli.ok(['whoami'])).toMatch(/^User +alice$/m)
    expect(await cli.run(['use', 'thrid'])).toMatchObject(
      says(2, 'There is no context "thrid". The contexts are: first, second.\nLog in to make it'),
    )
    expect((await cli.run(['use', 'first'], { env: { KEYPLANE_URL: server.base } })).stderr).toContain(
      'KEYPLANE_URL is set',
    )
    await logIn('--context', 'third')
    // With several left, none is a safe choice.
    expect((await cli.run(['logout'])).stderr).toContain(
      'Logged out of third.\nNo context is the current one. Still logged in to: first, second.',
    )
    for (const args of [['whoami'], ['logout']])
      expect(await cli.run(args)).toMatchObject(
        says(2, 'There is no current context. The contexts are: first, second.\nChoose one with: keyplane use NAME'),
      )
    await cli.ok(['use', 'first'])
    expect((await cli.run(['logout'])).stderr).toBe('Logged out of first.\nThe current context is second.\n')
    expect(await cli.run(['logout', '--context', 'secnod'])).toMatchObject(says(2, 'Did you mean "second"?'))
    expect(await cli.ok(['whoami'])).toMatch(/^User +alice$/m)
  })

  test('keeps all contexts when several programs log in at once', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `c${index}`)
    const ran = await Promise.all(names.map((name) => logIn('--context', name)))
    expect(ran.map(({ code }) => code)).toEqual(names.map(() => 0))
    expect(Object.keys((await config()).contexts).sort()).toEqual(names)
  })

  test.each(['console/', 'console', 'console/#/keys', 'console/docs/scopes.html?x=y'])(
    'works with the address of a page: %s',
    async (page) => {
      const address = server.base.replace('kubernetes/management', page)
      const { code, stderr } = await cli.run(['login', address, '--ca', ca], { input: server.adminKey })
      expect([code, stderr]).toEqual([0, expect.stringContaining(`Logged in to ${server.base} as admin.`)])
    },
  )

  test('of a URL that serves something else says to check the URL', async () => {
    const other = server.base.replace('kubernetes/management', 'oauth2/')
    const { stderr } = await cli.run(['login', other, '--ca', ca], { input: server.adminKey })
    expect(stderr).toContain('\nCheck the URL: it looks like')
  })

  test('writes to the target of a symbolic link', async () => {
    const target = await cli.write('dotfile.json', '{}')
    const link = join(cli.home, 'link.json')
    await symlink(target, link)
    expect(
      await cli.run(['login', server.base, '--ca', ca], { env: { KEYPLANE_CONFIG: link }, input: server.adminKey }),
    ).toMatchObject({ code: 0 })
    expect([(await lstat(link)).isSymbolicLink(), await readFile(target, 'utf8')]).toEqual([
      true,
      expect.stringContaining('mpk_'),
    ])
  })

  test('replaces the lock of a process that died', async () => {
    await leaveLock(`${configFile()}.lock`)
    expect(await logIn()).toMatchObject({ code: 0 })
  })

  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'it is not an object'],
    ['{"contexts": {"a": {"server": 1}}}', 'the context "a" needs a server'],
    ['{"contexts": {"a": {"server": "https://a"}}}', 'and a key or an exchange'],
  ])('does not overwrite a file that it cannot read: %s', async (text, message) => {
    const KEYPLANE_CONFIG = await cli.write('broken.json', text)
    expect(await cli.run(['whoami'], { env: { KEYPLANE_CONFIG } })).toMatchObject(says(1, message))
    await cli.run(['login', server.base, '--ca', ca], { env: { KEYPLANE_CONFIG }, input: server.adminKey })
    expect(await readFile(KEYPLANE_CONFIG, 'utf8')).toBe(text)
  })

  test('reports a folder that it may not write', async () => {
    const folder = join(cli.home, 'file')
    await writeFile(folder, '')
    await chmod(folder, 0o400)
    const { code, stderr } = await cli.run(['login', server.base, '--ca', ca], {
      env: { KEYPLANE_CONFIG: join(folder, 'config.json') },
      input: server.adminKey,
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining(folder)])
    expect(stderr).not.toContain('defect')
  })
})

describe('the environment', () => {
  test('names the server and the key without a login', async () => {
    const env = { KEYPLANE_URL: server.base, KEYPLANE_KEY: server.adminKey, KEYPLANE_CA: ca }
    expect(await cli.ok(['whoami'], { env })).toMatch(/^Context +none/m)
    const missing = await cli.run(['whoami'], { env: { ...env, KEYPLANE_KEY: undefined } })
    expect(missing).toMatchObject(says(2, 'neither KEYPLANE_KEY nor KEYPLANE_KEY_FILE'))
  })

  test('comes after --context, and logs out of none', async () => {
    await logIn('--context', 'mine')
    const env = { KEYPLANE_URL: 'https://127.0.0.1:1', KEYPLANE_KEY: 'k' }
    expect(await cli.run(['logout'], { env })).toMatchObject(says(2, 'keyplane logout --context NAME'))
    expect(await cli.ok(['whoami', '--context', 'mine'], { env })).toMatch(/^User +admin$/m)
  })
})

describe('an ID token', () => {
  let federation: Federation
  let client: string
  beforeAll(async () => {
    federation = await startFederation(server, { maxTTL: 3600, scope: { projects: [{ project: '*' }] } })
    client = await federation.trust('cli-login', { ttl: 1800 })
  })
  afterAll(() => federation?.close())

  /** Writes a new ID token, or one with other claims. */
  const writeToken = (claims: Record<string, unknown> = {}) => cli.write('id-token', federation.sign(claims))
  const exchange = () =>
    cli.run(['login', server.base, '--ca', ca, '--exchange', client, '--token-file', join(cli.home, 'id-token')])
  const nameOfKey = async () => (await cli.ok(['whoami', '-o', 'name'])).trim()

  test('is exchanged once for a key, which serves all commands, also at once, and is not in the contexts', async () => {
    await writeToken()
    expect(await exchange()).toMatchObject({ code: 0, stdout: '' })
    const names = await Promise.all(Array.from({ length: 5 }, nameOfKey))
    expect(names).toEqual(names.map(() => expect.stringMatching(/^cli-login-/)))
    expect(new Set(names).size).toBe(1)
    expect(JSON.parse(await cli.ok(['credential'])).status.token).toMatch(/^mpk_/)
    expect(JSON.stringify(await config())).not.toContain('mpk_')
    await writeToken()
    expect(await nameOfKey()).not.toBe(names[0])
  })

  test('that the environment names is exchanged without a login, and a key comes first', async () => {
    const file = await writeToken()
    const env = { KEYPLANE_URL: server.base, KEYPLANE_CA: ca, KEYPLANE_CLIENT_ID: client, KEYPLANE_ID_TOKEN_FILE: file }
    const whoami = (more = {}) => cli.run(['whoami', '-o', 'name'], { env: { ...env, ...more } })
    expect(await whoami()).toEqual({ code: 0, stdout: expect.stringMatching(/^cli-login-/), stderr: '' })
    expect((await whoami({ KEYPLANE_KEY: server.adminKey })).stdout).toMatch(/^admin-/)
    for (const half of [{ KEYPLANE_CLIENT_ID: undefined }, { KEYPLANE_ID_TOKEN_FILE: '' }])
      expect(await whoami(half)).toMatchObject(says(2, 'nor KEYPLANE_CLIENT_ID with KEYPLANE_ID_TOKEN_FILE.', ''))
  })

  test('that the trust does not accept is refused', async () => {
    await writeToken({ repository_id: '75' })
    expect(await exchange()).toMatchObject(says(4, /^Error: The ID token was not exchanged for a key: /))
  })

  test('is not exchanged again after the server has refused its key, which is forgotten', async () => {
    await writeToken()
    await exchange()
    await server.call(`${KEYS}/${await nameOfKey()}`, { method: 'DELETE' })
    expect((await cli.run(['whoami'])).code).toBe(4)
    expect(await readdir(join(cli.home, '.cache', 'keyplane'))).toEqual([])
    expect(await cli.run(['whoami'])).toMatchObject(says(4, 'has been exchanged already'))
  })
})
