/** Runs the tours of the README and of docs/tour.md against `npm start`, pasted into every shell of this machine. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { installCommandLine } from '../clients/cli/commandline.ts'
import { readPage } from '../support/commands.ts'
import { describeKubectl } from '../support/kubectl.ts'
import { paste, type Shell, shells } from '../support/shells.ts'

const main = join(import.meta.dirname, '../../infra/local/main.ts')
const { blocks } = await readPage('docs/tour.md', 'README.md')
const rotation = await readPage('docs/rotation.md')

const tour = [
  'Before you begin',
  'A key for a CI job',
  'A kube config of a virtual cluster',
  'A token for a connected cluster',
  'A key without a stored secret',
  'Rotate a key',
  'Revoke a key',
].map((heading) => blocks.get(heading)?.join('') ?? '')
const [makes = '', uses = '', asks = '', cleans = ''] = blocks.get('A tour of two minutes') ?? []

test('the shells include bash', () => expect(shells.map(({ name }) => name)).toContain('bash'))

describeKubectl('the tours', () => {
  let folder: string
  let server: ChildProcess
  let env: Record<string, string | undefined>
  let printed = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keyplane-readme-'))
    await installCommandLine(folder)
    const { KUBEBUILDER_ASSETS, PATH } = process.env
    env = { HOME: folder, TMPDIR: folder, PATH: [PATH, KUBEBUILDER_ASSETS].filter(Boolean).join(delimiter) }
    server = spawn(process.execPath, [main, '--examples'], { cwd: folder, env: { ...env, PORT: '0' } })
    await new Promise<void>((resolve, reject) => {
      server.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
        printed += chunk
        if (printed.includes('Press Ctrl-C to stop.')) resolve()
      })
      server.once('exit', (code) => reject(new Error(`ended with ${code}: ${printed}`)))
    })
  })
  afterAll(async () => {
    const ended = once(server, 'exit')
    if (server.kill('SIGTERM')) await ended
    await rm(folder, { recursive: true, force: true })
  })

  const pasteLines = (shell: Shell, ...lines: string[]) => paste(shell, lines.join('\n'), { cwd: folder, env })
  const [begin = '', key = '', fetched = '', token = '', exchange = '', rotate = '', end = ''] = tour

  // threat: people-1
  test.each(shells)('works unchanged in $name', async (shell) => {
    // Runs before the end of the tour removes the file.
    const looks = 'echo "mode $(stat -c %a demo.kubeconfig)"'
    const [, url = ''] = /^keyplane serves (\S+)$/m.exec(printed) ?? []
    const rotates = rotation.commandsOf('The command', 1, {
      'rotate ci': 'rotate shop-ci --context admin',
      'ci.key': 'shop-ci.key',
    })
    const twoMinutes = [makes.replace('https://127.0.0.1:8443/kubernetes/management', url), uses, asks, rotates, cleans]
    const fiveMinutes = [begin, key, fetched, looks, token, exchange, rotate]
    const { stdout, stderr, complaints } = await pasteLines(shell, ...fiveMinutes, ...twoMinutes, end)
    // The last question of the tour has the answer no.
    expect([complaints, stderr]).toEqual([['failed 1'], expect.not.stringContaining('rror')])
    expect(stdout).toContain('system:masters')
    expect(stdout).toMatch(/^NAME +READY +STATUS .*\n(?:.* Running .*\n)+mode 600$/m)
    expect(stdout).toMatch(/^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]+$/m)
    expect(stdout).toMatch(/"name": "alice".*"project": "demo"/s)
    expect(stdout).toMatch(/"phase": ?"Pending".*^Current\nPending$/ms)
    expect(stdout.match(/^hello-0 .* Running /gm)).toHaveLength(2)
    expect(stdout).toMatch(/shop-ci": allowed\n[\s\S]*shop-ci": not allowed\n[\s\S]*resourceNames:\n +- shop-ci\n/)
    expect(stderr).toMatch(/is stored and works\. The old one works for another 1h\.[\s\S]*old value .* has ended/)
    const [, name = ''] = /\/(ci-\w+) patched/.exec(stdout) ?? []
    expect(stdout).toMatch(new RegExp(`^${name} +CI of demo +alice `, 'm'))
    expect(stdout).toContain('access key is disabled')
    expect(stdout).toContain(`"${name}" deleted`)
    await expect(stat(join(folder, 'demo.kubeconfig'))).rejects.toThrow('ENOENT')
  })

  test.each(shells)('is followed by the commands of docs/federation.md and docs/ci.md in $name', async (shell) => {
    const federation = await readPage('docs/federation.md')
    const [decode = ''] = federation.blocks.get('When an exchange is refused') ?? []
    const [list = ''] = federation.blocks.get('How access ends') ?? []
    const clientID = (await readPage('docs/ci.md')).commandsOf('CI jobs', 0, { 'shop-deploy': 'demo' })
    const { stdout, stderr, complaints } = await pasteLines(shell, begin, exchange, decode, list, clientID)
    expect([complaints, stderr]).toEqual([[], expect.not.stringContaining('rror')])
    expect(stdout).toContain("environment: 'production'")
    expect(stdout).toMatch(/^NAME +.*^demo@[-0-9a-f]{36}$/ms)
    expect(stdout).not.toMatch(/^demo-[a-z2-7]{12} /m)
  })

  test.each(shells)('prints commands that work in $name', async (shell) => {
    const [, lines = ''] = printed.split('docs/tour.md has a tour of five minutes.\n')
    const { stdout, stderr, complaints } = await pasteLines(shell, lines.split('\nkeyplane serves ', 1).join())
    expect([complaints, stderr]).toEqual([[], expect.not.stringContaining('rror')])
    expect(stdout).toMatch(/"system:masters".*^ci-\w+ .*"kubeConfig":.* Running .*^mpk_\w{49}$/ms)
    await rm(join(folder, '.local', 'demo.kubeconfig'))
  })

  test.each(shells)(
    'prints at last how the command line logs in and makes a key, which works in $name',
    async (shell) => {
      const commands = [...printed.slice(printed.lastIndexOf('\nkeyplane serves ')).matchAll(/^npx (.*)$/gm)].map(
        ([, words = '']) => words,
      )
      const path = 'export PATH="$PWD/node_modules/.bin:$PATH"'
      const { stdout, complaints } = await pasteLines(
        shell,
        path,
        ...commands,
        'keyplane whoami',
        'keyplane logout',
        'rm ci.key',
      )
      expect([complaints, stdout]).toEqual([[], expect.stringMatching(/^User +admin$/m)])
    },
  )

  // threat: people-3
  test.each(shells)('says in $name why there is no kube config and writes no file', async (shell) => {
    const { complaints, stderr } = await pasteLines(shell, begin, 'KEY=wrong', fetched)
    expect([complaints[0], stderr]).toEqual(['failed 1', expect.stringContaining('Unauthorized')])
    await expect(readFile(join(folder, 'demo.kubeconfig'))).rejects.toThrow('ENOENT')
  })

  // threat: people-3
  test.each(shells)('revokes nothing in $name when no key was created', async (shell) => {
    const { stdout, complaints } = await pasteLines(shell, begin, key.replace('user: alice', 'user: system:alice'), end)
    expect(complaints.length).toBeGreaterThan(2)
    expect(stdout).not.toMatch(/patched|deleted/)
  })
})
