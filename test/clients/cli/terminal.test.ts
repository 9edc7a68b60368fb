/** What the command line asks and shows in a terminal. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useServer } from '../../support/sharedserver.ts'
import { describeTerminal, inTerminal } from '../../support/terminal.ts'
import { useCommandLine } from './commandline.ts'

const KEYS = '/apis/management.platform/v1/ownedaccesskeys'

describeTerminal('in a terminal', () => {
  const server = useServer()
  const cli = useCommandLine(server)

  const type = async (
    args: readonly string[],
    steps: readonly (readonly [RegExp, string])[] = [],
    more: Record<string, string> = {},
  ) => {
    const env = { PATH: process.env.PATH, HOME: cli.home, TERM: 'xterm', ...more }
    return inTerminal([process.execPath, await cli.install(), ...args], { cwd: cli.home, env }, steps)
  }
  /** Runs the program in this process, as in a terminal with what is typed. */
  const run = (args: readonly string[], input = '', env: Record<string, string> = {}) =>
    cli.run(args, { isTerminal: true, input, env })
  const session = () => ({
    KEYPLANE_URL: server.base,
    KEYPLANE_KEY: server.adminKey,
    KEYPLANE_CA: join(cli.home, 'ca.crt'),
  })
  const logIn = ['--context', 'term', '--ca', 'ca.crt']

  // threat: cli-1
  test('login asks for the key and does not show it', async () => {
    const { code, shown } = await type(
      ['login', server.base, ...logIn],
      [[/Access key for .*: /, `x\u007f${server.adminKey}\r`]],
    )
    expect([code, shown]).toEqual([
      0,
      expect.stringMatching(/^Access key for https:\/\/\S+ \(it is not shown\): \nLogged in to .* as admin\.\n/),
    ])
    expect(shown).not.toContain(server.adminKey.slice(0, 12))
    const { contexts } = JSON.parse(await readFile(join(cli.home, '.config/keyplane/config.json'), 'utf8'))
    expect(contexts.term.key).toBe(server.adminKey)
  })

  test('run asks first, and leaves the terminal to its command, which gets Ctrl-C once', async () => {
    const script = `process.on('SIGINT', () => console.log('interrupted'))
process.stdin.setEncoding('utf8').on('data', (line) => process.exit(line.trim() === 'end' ? 5 : 6))
console.log('begun')`
    await cli.write('scope.yaml', '{}')
    const { code, shown } = await type(
      ['run', '--scope', 'scope.yaml', '--ask', '--', process.execPath, '-e', script],
      [
        [/\[y\/N\] /, 'y\r'],
        [/^begun/m, '\u0003'],
        [/^interrupted|\^Cinterrupted/m, 'end\r'],
      ],
      session(),
    )
    expect([code, shown.match(/interrupted$/gm)?.length]).toEqual([5, 1])
    expect(shown).toMatch(/^run-admin-\w+ has ended\./m)
  })

  test('whose asks for the value and does not show it', async () => {
    const { code, shown } = await type(['whose'], [[/Value of an access key .*: /, `${server.adminKey}\r`]], session())
    expect([code, shown.includes(server.adminKey)]).toEqual([0, false])
    expect(shown).toMatch(/^Value of an access key \(it is not shown\): \nKey +\S+\nOwner +admin\n/)
  })

  test('whose asks before it sends a text that does not look like a key', async () => {
    const steps: Parameters<typeof type>[1] = [
      [/Value of an access key .*: /, `${'u'.repeat(40)}\r`],
      [/Send it anyway\? \[y\/N\] /, 'y\r'],
    ]
    const { code, shown } = await type(['whose'], steps, session())
    expect([code, shown]).toEqual([1, expect.stringContaining('No access key that you may read has this value.')])
    expect(shown).not.toContain('uuuu')
  })

  test.each([
    ['\u0003', 130],
    ['\u0004', 2],
  ])('login ends when %j is typed instead of a key', async (typed, exitCode) => {
    const { code, shown } = await type(['login', server.base, ...logIn], [[/Access key for .*: /, typed]])
    expect([code, shown]).toEqual([exitCode, expect.not.stringContaining('defect')])
  })

  test('keys delete shows the keys and deletes none without a yes', async () => {
    await server.make(KEYS, { metadata: { name: 'asked' }, spec: { user: 'alice', displayName: 'Jobs\u001b[2J' } })
    const refused = await run(['keys', 'delete', 'asked'], 'n\n')
    expect([refused.code, refused.stderr]).toEqual([0, expect.not.stringContaining('Error')])
    expect(refused.stderr).toContain(
      '  asked: "Jobs\\u{1b}[2J", of alice, last used never\nDelete this key permanently? [y/N] ',
    )
    expect((await server.call(`${KEYS}/asked`)).status).toBe(200)
    const interrupted = await type(['keys', 'delete', 'asked'], [[/\[y\/N\] /, '\u0003']], session())
    expect([interrupted.code, (await server.call(`${KEYS}/asked`)).status]).toEqual([130, 200])
    const agreed = await run(['keys', 'delete', 'asked'], 'yes\n')
    expect([agreed.code, agreed.stderr]).toEqual([0, expect.stringContaining('asked is deleted.\n')])
  })

  test('keys delete names the key that is in use', async () => {
    const name = (await cli.ok(['whoami', '-o', 'name'])).trim()
    const { code, stderr } = await run(['keys', 'delete', name], '\n')
    expect(code).toBe(0)
    expect(stderr).toMatch(/, the key that you use now\n/)
  })

  test('keys delete --yes asks nothing', async () => {
    await server.make(KEYS, { metadata: { name: 'quiet' }, spec: { ttl: 60 } })
    expect(await run(['keys', 'delete', 'quiet', '--yes'])).toEqual({
      code: 0,
      stdout: '',
      stderr: 'quiet is deleted.\n',
    })
  })

  test('a table is cut at the width of the terminal', async () => {
    const projects = Array.from({ length: 30 }, (_, index) => ({ project: `project-${index}` }))
    await server.make(KEYS, { metadata: { name: 'wide' }, spec: { ttl: 60, scope: { projects } } })
    const { shown } = await type(['keys', 'list'], [], session())
    expect(shown).toMatch(/^wide .* projects project-0, .*… /m)
    expect(shown.split('\n').filter((line) => line.length > 100)).toEqual([])
  })

  test('errors are coloured, unless NO_COLOR is set', async () => {
    expect((await run(['keys', 'show', 'nothere'])).stderr).toContain('\u001b[31mError:\u001b[0m ')
    expect((await run(['keys', 'show', 'nothere'], '', { NO_COLOR: '1' })).stderr).toMatch(/^Error: /)
  })

  // threat: cli-4
  test('JSON has escapes for what would change the terminal', async () => {
    await server.make(KEYS, { metadata: { name: 'escaped' }, spec: { ttl: 60, description: 'a\u009b31m\u202eb' } })
    const { stdout: shown } = await run(['keys', 'show', 'escaped', '-o', 'json'])
    expect(JSON.parse(shown).spec.description).toBe('a\u009b31m\u202eb')
    expect(shown).toContain('a\\u009b31m\\u202eb')
  })

  test('revoke shows the keys, and disables none without a yes', async () => {
    await server.make(KEYS, { metadata: { name: 'leaving' }, spec: { user: 'zoe', displayName: 'Jobs\u001b[2J' } })
    const isDisabled = async () => (await server.call(`${KEYS}/leaving`)).json.spec.disabled === true
    const revoke = ['revoke', '--user', 'zoe']
    const refused = await run(revoke, 'n\n')
    expect([refused.code, refused.stdout + refused.stderr]).toEqual([
      0,
      expect.stringMatching(/leaving +zoe +Jobs\\u\{1b\}\[2J +never[\s\S]*1 access key: 1 of zoe\n/),
    ])
    expect(await isDisabled()).toBe(false)
    const agreed = await run(revoke, 'y\n')
    expect([agreed.code, await isDisabled()]).toEqual([0, true])
  })

  test('rotate passes Ctrl-C on to its command, and continues with the next call', async () => {
    await server.make(KEYS, { metadata: { name: 'stopped' }, spec: { user: 'alice' } })
    const hangs = 'trap "echo got it; exit 1" INT; echo ready; while :; do sleep 0.1; done'
    const { code, shown } = await type(['rotate', 'stopped', '--', 'sh', '-c', hangs], [[/ready/, '\u0003']], session())
    expect([code, shown]).toEqual([130, expect.stringContaining('got it')])
    expect(shown).toContain('Interrupted. The old value of access key "stopped" works as before. Repeat the command')
    const again = await cli.run(['rotate', 'stopped', '--', 'sh', '-c', 'cat > value'])
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Continuing the rotation')])
  })
})
