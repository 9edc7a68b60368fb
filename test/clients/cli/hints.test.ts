/** Parses every command that a text of the command line names, with the parser of the program itself. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseCall } from '../../../clients/cli/src/arguments/parse.ts'
import { commands } from '../../../clients/cli/src/commands/index.ts'
import { readArguments } from '../../../infra/clusterconfig.ts'

const root = join(import.meta.dirname, '../../../clients/cli/src')

/** Returns the commands in the texts of a file, with `x` in place of what is computed. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/: (keyplane [a-z][^'"`]*|npm run [^'"`]*)/g)].map(([, found = '']) =>
    found
      .replaceAll(/\$\{target\}/g, '--cluster x')
      .replaceAll(/\$\{[^}]*\}/g, 'x')
      .replace(/(\\n|[.,;)] |[.,;)]$).*$/s, '')
      .trim(),
  )

async function named(): Promise<string[]> {
  const files = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ts'))
  const texts = await Promise.all(files.map((name) => readFile(join(root, name), 'utf8')))
  // Comments name commands, too, in quotes of their own.
  return [
    ...new Set(
      texts.flatMap((text) => text.split('\n').filter((line) => !/^\s*(\/\*|\*|\/\/)/.test(line))).flatMap(commandsIn),
    ),
  ]
}

/** Reports what is wrong with a command, or nothing. */
async function problemOf(line: string): Promise<string | undefined> {
  const [program, ...words] = (line.split(/ [|<] /)[0] ?? '').split(' ')
  try {
    if (program === 'keyplane') return parseCall(commands, words, 'posix').kind === 'run' ? undefined : 'no command'
    if (!words.includes('--issuer')) return words.includes('--service-accounts') ? undefined : 'no issuer'
    await readArguments(
      words.slice(words.indexOf('--') + 1).map((word) => (word === 'x' ? 'https://keys.example.com' : word)),
    )
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('every command that a hint names is one that the program takes', async () => {
  const lines = await named()
  expect(lines.length).toBeGreaterThan(20)
  const wrong = await Promise.all(lines.map(async (line) => [line, await problemOf(line)]))
  expect(wrong.filter(([, problem]) => problem !== undefined)).toEqual([])
})
