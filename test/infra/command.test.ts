/** The commands of package.json: the output of `--help` and of invalid calls. */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { helpOf, readCall, UsageError } from '../../infra/command.ts'

const root = join(import.meta.dirname, '../..')
const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>
}
const own = Object.entries(scripts).flatMap(([name, script]) => {
  const [, file] = /^node -r \S+ (?:--\S+ )?((?:events|infra|test)\/\S+\.ts)$/.exec(script) ?? []
  return file === undefined ? [] : [{ name, file, call: name === 'start' ? 'npm start' : `npm run ${name}` }]
})

const runCommand = (file: string, ...args: string[]) =>
  new Promise<{ code: unknown; said: string; heard: string }>((resolve) => {
    execFile(process.execPath, [join(root, file), ...args], { cwd: root }, (error, said, heard) =>
      resolve({ code: error?.code ?? 0, said, heard }),
    )
  })

test('finds the commands', () =>
  expect(own.map(({ name }) => name).sort()).toEqual(
    'bench bootstrap build deploy deployer-policy local-secret package release remove restore rollback sample-event smoke start throttles'
      .split(' ')
      .sort(),
  ))

test('CONTRIBUTING.md explains every script', async () => {
  const page = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const [, table = ''] = page.split('| command | does |\n')
  const explained = [
    ...table
      .split('\n\n', 1)
      .join()
      .matchAll(/`npm (?:run )?([\w:-]+)`/g),
  ].map(([, name = '']) => name)
  // npm runs preprepare before prepare.
  expect([...explained, 'preprepare'].sort()).toEqual(Object.keys(scripts).sort())
})

test('a command says what is wrong, and how it is called', async () => {
  const usage = 'usage: npm run restore -- '
  const { code, said, heard } = await runCommand('infra/restore.ts', '--wrong')
  expect([code, said, heard]).toEqual([
    2,
    '',
    expect.stringMatching(new RegExp(`^Unknown option '--wrong'.*\n${usage}.*\n$`)),
  ])
})

test.concurrent.each(own)('$name --help explains it', async ({ file, call }) => {
  const { code, said, heard } = await runCommand(file, '--help')
  expect([code, heard]).toEqual([0, ''])
  expect(said).toMatch(new RegExp(`^usage: ${call}( -- .*)?\n\n[A-Z][^]*\\.\n\noptions\n`))
  expect(said).toContain('--help')
  for (const line of said.split('\n').slice(1)) expect([line, line.length < 125]).toEqual([line, true])
})

const command = {
  call: 'npm run it',
  about: 'Does it.',
  options: {
    stage: { type: 'string', value: 'STAGE', required: true, help: 'which one' },
    param: { type: 'string', value: 'NAME=VALUE', multiple: true, help: 'a setting' },
    rounds: { type: 'string', value: 'N', default: '3', help: 'how often' },
    yes: { type: 'boolean', help: 'do not ask' },
  },
  variables: { PORT: 'where' },
  settings: { 'max-age': 'MAX_AGE' },
} as const

test('help lists options, settings and variables', () =>
  expect(
    helpOf(command),
  ).toBe(`usage: npm run it -- --stage STAGE [--param NAME=VALUE]... [--rounds N] [--yes] [--SETTING VALUE]...

Does it.

options
  --stage STAGE       which one
  --param NAME=VALUE  a setting
  --rounds N          how often (default 3)
  --yes               do not ask
  --help              print this help

settings of a deployment (docs/settings.md)
  --max-age VALUE, or MAX_AGE=VALUE

environment
  PORT                where
`))

test('omitted options have their defaults', () =>
  expect(readCall(command, ['--stage', 'a']).values).toEqual({ stage: 'a', param: [], rounds: '3', yes: false }))

test('settings are read apart from the options', () =>
  expect(readCall(command, ['--max-age', '5', '--stage', 'a'])).toMatchObject({
    values: { stage: 'a' },
    settings: { 'max-age': '5' },
  }))

test('refuses a call without a required option', () =>
  expect(() => readCall(command, ['--yes'])).toThrow(new UsageError('--stage is missing')))

// threat: people-8
test('removing requires confirmation: without a terminal it is refused before any lookup', async () => {
  const { code, heard } = await runCommand('infra/remove.ts', '--stage', 'prod', '--region', 'eu-central-1')
  expect([code, heard]).toEqual([2, expect.stringContaining('confirmation requires a terminal: use --yes')])
})
