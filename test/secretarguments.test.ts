/** No page, recipe or template puts a key or a token into the arguments of a program. `npm run test:docs` looks at the processes themselves. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runProgram } from './support/programs.ts'

const root = join(import.meta.dirname, '..')
const pages = globSync(
  [
    'README.md',
    'docs/*.md',
    'clients/*/README.md',
    'clients/gitlab/**/*.yml',
    'clients/console/src/**/*.{yaml,ts,tsx}',
  ],
  { cwd: root },
)

/** An option of curl and others whose value has a variable with a secret, or a command that prints one. */
const SECRET_OPTION =
  /(?:-H|--header|-d|--data(?:-\w+)?|-u|--user|--token|--from-literal)[ =]*["']?[^"'\n@]*?(?:\$\$?\{?\w*(?:KEY|TOKEN|SECRET|PASSWORD)\b|\$\(cat )/

const optionsWithSecrets = (text: string): string[] =>
  text.split('\n').filter((line) => SECRET_OPTION.test(line) && !/^\s*printf /.test(line))

test('no page has an option with a secret', () => {
  expect(pages.length).toBeGreaterThan(30)
  const found = pages.flatMap((page) =>
    optionsWithSecrets(readFileSync(join(root, page), 'utf8')).map((line) => [page, line]),
  )
  expect(found).toEqual([])
})

describe('an option with a secret', () => {
  test.each([
    'curl -H "Authorization: Bearer $KEY" x',
    '-H "PRIVATE-TOKEN: $SETTINGS_TOKEN"',
    '--header "A: $(cat ~/.key)"',
  ])('is found: %s', (line) => expect(optionsWithSecrets(line)).toEqual([line]))
})

test('a snippet that shows a secret in the arguments of a process fails', async () => {
  const run = (script: string) =>
    runProgram('sh', ['-c', script], { cwd: root, env: { PATH: process.env.PATH, KEY: 'secret-value' } })
  await expect(run('cat "/dev/null-$KEY" || true')).rejects.toThrow('cat has a secret among its arguments')
  expect(await run('printf %s "$KEY" | cat')).toMatchObject({ code: 0, stdout: 'secret-value' })
})
