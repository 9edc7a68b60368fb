/** What the command line says where it can keep no files, as in a job of a container, before it asks the server. */
import { spawn } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { unwritable } from '../../../clients/cli/src/config/privatefile.ts'
import { fileFailure } from '../../../clients/cli/src/io/filefailure.ts'
import { useServer } from '../../support/sharedserver.ts'
import { says, useCommandLine } from './commandline.ts'

const server = useServer()
const cli = useCommandLine(server)

/** Nobody listens there: a command that asks says so instead. */
const UNREACHABLE = 'https://127.0.0.1:1'

const homes: [string, () => Promise<string>, string][] = [
  ['is a file', () => cli.write('file', ''), 'a part of its path is not a folder'],
  [
    'is a link to itself',
    async () => {
      const link = join(cli.home, 'loop')
      await symlink(link, link).catch(() => undefined)
      return link
    },
    'its symbolic links lead in a circle',
  ],
]

describe.each(homes)('a home that %s', (_, home, reason) => {
  test.each([
    [['login', UNREACHABLE], {}, /^Set KEYPLANE_CONFIG to a file /m],
    [['login', UNREACHABLE], { KEYPLANE_CONFIG: '?/config.json' }, /^Set KEYPLANE_CONFIG to a file /m],
    [['logout', '--context', 'a'], {}, /^Set KEYPLANE_CONFIG to a file /m],
    [['whoami', '--context', 'a'], {}, /^Set KEYPLANE_CONFIG to a file /m],
    [['rotate', 'ci'], { KEYPLANE_URL: UNREACHABLE }, /^Set XDG_STATE_HOME to a folder /m],
    [['rotate', 'ci'], { KEYPLANE_URL: UNREACHABLE, XDG_STATE_HOME: '?' }, /^Set XDG_STATE_HOME to a folder /m],
    [['kubeconfig', 'shop/dev', '--merge'], { KEYPLANE_URL: UNREACHABLE }, /^Set KUBECONFIG to a file /m],
    [['kubeconfig', '--merge'], { KEYPLANE_URL: UNREACHABLE, KUBECONFIG: '?/config' }, /^Set KUBECONFIG to a file /m],
  ] as const)('is a sentence with the way out for %j with %j', async (args, more, wayOut) => {
    const HOME = await home()
    const env = Object.fromEntries(Object.entries(more).map(([name, value]) => [name, value.replace('?', HOME)]))
    const ran = await cli.run(args, { env: { HOME, ...env }, input: server.adminKey })
    expect(ran).toMatchObject(says(1, wayOut, ''))
    expect(ran.stderr).toMatch(new RegExp(`^Error: Cannot (read|write) /.*: ${reason}\\.$`, 'm'))
  })

  test('is no obstacle for commands that keep nothing', async () => {
    const env = { HOME: await home() }
    expect(await cli.run(['whoami', '-o', 'name'], { env })).toMatchObject({ code: 0 })
    const credential = await cli.run(['credential', '--cluster', 'west'], { env })
    expect(credential).toMatchObject({ code: 0, stderr: expect.stringContaining('keyplane works without its cache') })
  })
})

test('a logout without a home forgets the context though no cache can be found', async () => {
  const contexts = { a: { server: UNREACHABLE, key: 'k'.repeat(40) } }
  const KEYPLANE_CONFIG = await cli.write('contexts.json', JSON.stringify({ currentContext: 'a', contexts }))
  const env = { HOME: await cli.write('file', ''), KEYPLANE_URL: undefined, KEYPLANE_CONFIG }
  expect(await cli.run(['logout'], { env })).toMatchObject(says(0, 'Logged out of a.'))
})

test('a failure that no command expects is a sentence, and an error of the program is none', () => {
  const failure = (more: object) => fileFailure(Object.assign(new Error('EROFS: …'), more))?.message
  expect(failure({ code: 'EROFS', syscall: 'unlink', path: '/a' })).toBe(
    '/a cannot be used: its file system is read-only.',
  )
  expect(failure({ code: 'EISDIR', syscall: 'read' })).toBe('Standard input cannot be used: it is a folder.')
  expect(failure({ code: 'ENOENT', syscall: 'uv_cwd' })).toBe('The current folder does not exist any more.')
  expect([failure({}), failure({ code: 'ECONNREFUSED', syscall: 'connect' })]).toEqual([undefined, undefined])
})

test('a file that is mounted into a container says what to mount', () => {
  const busy = Object.assign(new Error('EBUSY: …'), { code: 'EBUSY', syscall: 'rename' })
  expect(unwritable('/root/.config/keyplane/config.json', busy, 'Set HOME.')).toMatchObject({
    message: 'Cannot write /root/.config/keyplane/config.json: it is mounted by itself.',
    hint: 'Mount its folder /root/.config/keyplane instead: a mounted file cannot be replaced.',
  })
})

// Only root can become a user that has no entry in /etc/passwd.
test.runIf(process.geteuid?.() === 0)('a user without a home and without a name gets a sentence', async () => {
  const module = new URL('../../../clients/cli/src/config/paths.ts', import.meta.url).href
  // It has loaded everything before: another user may not be able to read the checkout.
  const script = `import(${JSON.stringify(module)}).then(({ stateFolder }) => {
    process.setuid(54_321)
    stateFolder({ env: {} })
  }).catch(({ message }) => console.log(message))`
  const child = spawn(process.execPath, ['-e', script], { env: {}, stdio: ['ignore', 'pipe', 'inherit'] })
  expect(await text(child.stdout)).toBe('There is no home folder: set HOME or XDG_STATE_HOME.\n')
})
