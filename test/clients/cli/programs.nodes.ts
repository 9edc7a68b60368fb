/** The bundle of the command line as a process, on every Node.js of this machine that the package supports. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { describeTerminal, inTerminal } from '../../support/terminal.ts'
import { type CommandLine, createCommandLine, nodes, says } from './commandline.ts'

let server: TestServer
let cli: CommandLine
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())
beforeEach(async () => {
  cli = await createCommandLine()
  await cli.write('ca.crt', server.certificateAuthority)
  return () => cli.stop()
})

describe.each(nodes)('on Node.js $version', ({ version, path: node }) => {
  const run = (...args: string[]) => cli.spawn(args, { node, input: server.adminKey })
  const login = () => run('login', server.base, '--ca', 'ca.crt')
  const name = `ci-${version.replaceAll('.', '-')}`

  test('a person logs in, makes a key, and logs out', async () => {
    expect(await login()).toMatchObject({ code: 0, stdout: '' })
    expect(await run('whoami', '-o', 'yaml')).toMatchObject({ code: 0, stdout: expect.stringContaining('kind: Self') })
    const created = await run('keys', 'create', name, '--user', 'alice', '--ttl', '30d')
    expect(created).toMatchObject({ code: 0, stdout: expect.stringMatching(/^mpk_\w{49}$/) })
    expect((await run('keys', 'list', '--owner', 'alice')).stdout).toMatch(new RegExp(`^${name} +alice`, 'm'))
    expect(await run('logout')).toMatchObject({ code: 0, stdout: '' })
    expect(await run('whoami')).toMatchObject(says(2, 'You are not logged in.'))
  })

  test('many plugins at once share a token', async () => {
    await login()
    const ran = await Promise.all(Array.from({ length: 5 }, () => run('credential', '--cluster', 'west')))
    expect(ran).toEqual(ran.map(() => ({ code: 0, stdout: ran[0]?.stdout, stderr: '' })))
    expect(JSON.parse(ran[0]?.stdout ?? '').status.token).toMatch(/^eyJ/)
  })

  test('a rotation is stored by its command', async () => {
    await login()
    const rotated = `rotated-${name}`
    expect((await run('keys', 'create', rotated, '--ttl', '30d')).code).toBe(0)
    expect(await run('rotate', rotated, '--', 'sh', '-c', 'cat > stored')).toMatchObject({ code: 0, stdout: '' })
    expect(await readFile(join(cli.home, 'stored'), 'utf8')).toMatch(/^mpk_\w{49}$/)
  })

  describeTerminal('in a terminal', () => {
    test('login asks for the key and does not show it', async () => {
      const { code, shown } = await inTerminal(
        [node, await cli.install(), 'login', server.base, '--ca', 'ca.crt'],
        { cwd: cli.home, env: { PATH: process.env.PATH, HOME: cli.home, TERM: 'xterm' } },
        [[/Access key for .*: /, `${server.adminKey}\r`]],
      )
      expect([code, shown]).toEqual([0, expect.not.stringContaining(server.adminKey.slice(0, 12))])
    })
  })
})
