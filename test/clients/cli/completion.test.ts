/** What a TAB offers: words of the table of commands, and names of a server that may be slow, wrong or hostile. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ROLES } from '../../../clients/cli/src/arguments/scope.ts'
import { sections } from '../../../clients/cli/src/commands/index.ts'
import { completionOf } from '../../../clients/cli/src/completion/candidates.ts'
import { safeNames } from '../../../clients/cli/src/completion/names.ts'
import { scriptOf } from '../../../clients/cli/src/completion/scripts.ts'
import type { Io } from '../../../clients/cli/src/io/io.ts'
import { runProgram } from '../../../clients/cli/src/program.ts'
import { ROLE_NAMES } from '../../../lib/access/scopes/roles.ts'
import { useServer } from '../../support/sharedserver.ts'
import { useCommandLine } from './commandline.ts'
import { testIo } from './credentials/testio.ts'
import { useFront } from './front.ts'

const server = useServer()
const cli = useCommandLine(server)
const front = useFront(server)

const completed = (...words: string[]) => completionOf(sections, words)
const wordsOf = (...words: string[]): string[] => {
  const found = completed(...words)
  return found.kind === 'words' ? found.words.map(({ value }) => value) : [found.kind]
}

describe('the words after', () => {
  test.each<[string, string[]]>([
    ['', expect.arrayContaining(['keys', 'clusters', 'login', 'help'])],
    ['ke', ['keys']],
    ['keys ', expect.arrayContaining(['list', 'create', 'show'])],
    ['keys d', ['disable', 'delete']],
    ['keys zzz ', []],
    ['keys list --s', ['--state', '--sort', '--selector']],
    ['keys list --state ', ['active', 'disabled', 'expired', 'leaked', 'terminating', 'unused']],
    ['keys list --state active,d', ['active,disabled']],
    ['keys list --state=d', ['--state=disabled']],
    ['keys list -o ', ['json', 'yaml', 'name', 'wide']],
    ['keys list --sort created --so', []],
    ['keys list --yes=', []],
    ['keys list --constructor=', []],
    ['keys list ', []],
    ['kubeconfig --with c', ['curl', 'cert']],
    ['completion ', []],
    ['keys create ci ', []],
    ['--context a keys d', ['disable', 'delete']],
    ['-o json keys li', ['list']],
    ['run --cluster eu -- ', ['files']],
    ['keys create --key-file ', ['files']],
    ['keys create --key-file=a', ['files']],
  ])('%j', (line, words) => expect(wordsOf(...line.split(' '))).toEqual(words))

  test.each([
    ['keys show ', { named: 'keys', prefix: '' }],
    ['keys delete a b', { named: 'keys', prefix: '' }],
    ['clusters show e', { named: 'clusters', prefix: '' }],
    ['kubeconfig shop/', { named: 'all-clusters', prefix: '' }],
    ['keys create --role ', { named: 'roles', prefix: '' }],
    ['keys create --project a,b', { named: 'projects', prefix: 'a,' }],
    ['keys create --project=', { named: 'projects', prefix: '--project=' }],
    ['--context x keys show ', { named: 'keys', context: 'x' }],
    ['keys show --context=y ', { named: 'keys', context: 'y' }],
    ['--context ', { named: 'contexts' }],
    ['use ', { named: 'contexts' }],
  ])('%j are names', (line, names) => expect(completed(...line.split(' '))).toMatchObject({ kind: 'names', ...names }))

  test('are described by the help, and roles are those of the server', () => {
    expect(completed('keys', 'li')).toEqual({
      kind: 'words',
      words: [{ value: 'list', help: 'List the access keys that you may see' }],
    })
    expect([...ROLES].sort()).toEqual([...ROLE_NAMES].sort())
  })
})

/** Names that a shell or a terminal would take for something else. */
const HOSTILE = ['$(touch pwned)', '`id`', 'a b', '-rf', "a'b", 'a"b', 'a\u001b[2Jb', 'a\nb', '../x', 'x;y', '*', '']

test('only names that no shell expands are offered', () => {
  expect(safeNames([...HOSTILE, 'ci', 'shop/dev', 'keys.example.com:8443', 7, null, 'x'.repeat(300)])).toEqual([
    'ci',
    'shop/dev',
    'keys.example.com:8443',
  ])
})

describe('names of the server', () => {
  let shells = 0
  /** Completes with a clock that the waits move, and runs what the program starts to its end before the next TAB. */
  function shell(env: Record<string, string | undefined> = {}) {
    let clock = 0
    const cache = join(cli.home, `cache-${++shells}`)
    const started: string[][] = []
    const parts = (run: Partial<Io>) =>
      testIo({
        env: {
          PATH: process.env.PATH,
          HOME: cli.home,
          XDG_CACHE_HOME: cache,
          KEYPLANE_URL: server.base,
          KEYPLANE_KEY: server.adminKey,
          KEYPLANE_CA: join(cli.home, 'ca.crt'),
          ...env,
        },
        now: () => new Date(Date.UTC(2026, 0, 1) + clock),
        ...run,
      })
    return {
      started,
      later: (milliseconds: number) => {
        clock += milliseconds
      },
      async tab(...words: string[]): Promise<string[]> {
        let waited = 0
        const { io, said } = parts({
          elapsed: () => waited,
          pause: async (milliseconds) => {
            waited += milliseconds
          },
          startDetached: (args) => void started.push([...args]),
        })
        expect([await runProgram(['__complete', 'zsh', '--', ...words], io), said.err]).toEqual([0, ''])
        expect(waited).toBeLessThan(300)
        return said.out.split('\n').filter((line) => line !== '')
      },
      async finish(): Promise<void> {
        for (const args of started.slice(-1)) {
          const { io, said } = parts({})
          expect([await runProgram(args, io), said]).toEqual([0, { out: '', err: '' }])
        }
      },
    }
  }

  test('are there at the next TAB, and asked for once in 30 seconds', async () => {
    await server.makeKey({ user: 'tab' }, { name: 'tab-one' })
    const { tab, finish, started, later } = shell()
    expect(await tab('keys', 'show', 'tab-')).toEqual([])
    expect([await tab('keys', 'show', ''), started]).toEqual([[], [['__complete-names', 'keys']]])
    await finish()
    expect(await tab('keys', 'show', 'tab-')).toEqual(['tab-one'])
    await server.makeKey({ user: 'tab' }, { name: 'tab-two' })
    later(29_000)
    expect([await tab('keys', 'show', 'tab-'), started.length]).toEqual([['tab-one'], 1])
    later(2_000)
    expect([await tab('keys', 'show', 'tab-'), started.length]).toEqual([['tab-one'], 2])
    await finish()
    expect(await tab('keys', 'show', 'tab-')).toEqual(['tab-one', 'tab-two'])
  })

  test('are those of contexts, clusters, trusts, projects and virtual clusters too', async () => {
    await server.make('/apis/management.platform/v1/clusters', {
      metadata: { name: 'tab-eu' },
      spec: { server: 'https://eu.example.com' },
    })
    await server.make('/apis/management.platform/v1/namespaces/p-tab/virtualclusterinstances', {
      apiVersion: 'management.platform/v1',
      kind: 'VirtualClusterInstance',
      metadata: { name: 'dev' },
      spec: {},
    })
    const { tab, finish } = shell()
    for (const [words, names] of [
      [['clusters', 'show', 'tab'], ['tab-eu']],
      [
        ['kubeconfig', 'tab'],
        ['tab-eu', 'tab/dev'],
      ],
      [['keys', 'create', '--project', 'tab'], ['tab']],
      [['keys', 'create', '--project=tab'], ['--project=tab']],
      [['keys', 'create', '--role', 'a'], ['agent']],
    ] as const) {
      await tab(...words)
      await finish()
      expect(await tab(...words)).toEqual(names)
    }
  })

  // threat: cli-4
  test.each<[string, (text: string) => string]>([
    [
      'hostile names',
      (text) => JSON.stringify({ ...JSON.parse(text), items: HOSTILE.map((name) => ({ metadata: { name } })) }),
    ],
    ['a web page', () => '<!doctype html><title>Log in</title>'],
    ['nothing', () => ''],
    ['another object', () => '{"items":"x"}'],
  ])('that answers with %s are none', async (_, change) => {
    front.change = change
    const { tab, finish } = shell({
      KEYPLANE_URL: front.base,
      KEYPLANE_CA: await cli.write('front.crt', front.certificateAuthority),
    })
    for (let time = 0; time < 2; time++) {
      expect(await tab('keys', 'show', '')).toEqual([])
      await finish()
    }
    front.change = (text) => text
  })

  test('that refuses the key, that is not there, or of nobody are none, and nothing is said', async () => {
    for (const env of [
      { KEYPLANE_KEY: 'x'.repeat(40) },
      { KEYPLANE_URL: 'https://127.0.0.1:1' },
      { KEYPLANE_URL: undefined, KEYPLANE_CONFIG: '/nowhere/config.json' },
      { KEYPLANE_URL: 'http://x', KEYPLANE_KEY: undefined },
    ]) {
      const { tab, finish } = shell(env)
      expect(await tab('keys', 'show', '')).toEqual([])
      await finish()
      expect(await tab('keys', 'show', '')).toEqual([])
      expect(await tab('keys', 'sh')).toEqual([
        'show\tShow an access key: what it may do, when it was used, and when it ends',
      ])
    }
  })
})

const has = (shell: string) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, shell)))

describe('the script of', () => {
  const run = promisify(execFile)
  /** Stands for the program: prints candidates of a hostile server, and the arguments to a file. */
  const program = (lines: string) => `keyplane() { printf '<%s>' "$@" > args; printf '%s\\n' ${lines}; }\n`
  const lines = `'$(touch pwned)' '\`touch pwned\`' ci-1 'a b' '*'`

  test('bash gives the words to the program, and expands nothing that it says', async () => {
    const body = `${program(lines)}${scriptOf('bash')}
COMP_WORDS=(keyplane keys list --context = ab:c '')
COMP_CWORD=6
_keyplane
printf '[%s]' "\${COMPREPLY[@]}"; ls pwned 2>/dev/null; cat args`
    const { stdout } = await run('bash', ['-c', body], { cwd: cli.home })
    expect(stdout).toBe(
      '[$(touch pwned)][`touch pwned`][ci-1][a b][*]<__complete><bash><--><keys><list><--context><=><ab:c><>',
    )
  })

  test('bash completes files itself', async () => {
    await cli.write('$(touch pwned).txt', '')
    const body = `${program("':files'")}${scriptOf('bash')}
COMP_WORDS=(keyplane run '$(')
COMP_CWORD=2
_keyplane
printf '[%s]' "\${COMPREPLY[@]}"; ls pwned 2>/dev/null; true`
    expect((await run('bash', ['-c', body], { cwd: cli.home })).stdout).toBe('[$(touch pwned).txt]')
  })

  test.runIf(has('zsh'))('zsh does too', async () => {
    const body = `${program(lines)}compadd() { printf '[%s]' "\${values[@]}" }
_files() { print files }
${scriptOf('zsh')}
words=(keyplane keys show '')
CURRENT=4
_keyplane
ls pwned 2>/dev/null; cat args`
    const { stdout } = await run('zsh', ['-f', '-c', body], { cwd: cli.home })
    expect(stdout).toBe('[$(touch pwned)][`touch pwned`][ci-1][a b][*]<__complete><zsh><--><keys><show><>')
  })

  test.runIf(has('fish'))('fish does too, with the help, and completes files itself', async () => {
    await cli.write('mine.txt', '')
    const complete = async (said: string, line: string) => {
      const body = `function keyplane
  printf '<%s>' $argv >args
  printf '%s\\n' ${said}
end
${scriptOf('fish')}
complete -C '${line}'; ls pwned 2>/dev/null; cat args`
      return (await run('fish', ['--no-config', '-c', body], { cwd: cli.home })).stdout.split('\n')
    }
    expect(await complete(`${lines} "ci-2"\\t"its help"`, 'keyplane keys show ')).toEqual([
      ...['$(touch pwned)', '*', 'a b', 'ci-1', 'ci-2\tits help', '`touch pwned`'],
      '<__complete><fish><--><keys><show><>',
    ])
    expect(await complete("':files'", 'keyplane run mi')).toEqual(['mine.txt', '<__complete><fish><--><run><mi>'])
  })

  test('another shell is refused with those that there are', async () => {
    expect(await cli.run(['completion', 'bsh'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('must be one of bash, zsh, fish, powershell, not "bsh": did you mean bash?'),
    })
    for (const shell of ['powershell']) expect(await cli.ok(['completion', shell])).toContain('__complete')
    expect(await readFile(join(import.meta.dirname, '../../../docs/command-line.md'), 'utf8')).toContain('completion')
  })
})

test('bash gives = and : as words of their own', async () => {
  const complete = async (...words: string[]) => {
    const { io, said } = testIo({ env: { HOME: cli.home } })
    await runProgram(['__complete', 'bash', '--', ...words], io)
    return said.out
  }
  expect(await complete('keys', 'list', '--state', '=', 'act')).toBe('active\n')
  expect(await complete('keys', 'list', '--state', '=')).toBe(
    'active\ndisabled\nexpired\nleaked\nterminating\nunused\n',
  )
  expect(await complete('keys', 'list', '--stat')).toBe('--state\n')
})
