/** Parses every command that a text of the command line names, with the parser of the program itself. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseCall } from '../../../clients/cli/src/arguments/parse.ts'
import { commands } from '../../../clients/cli/src/commands/index.ts'

const root = join(import.meta.dirname, '../../../clients/cli/src')

/** Returns the commands in the texts of a file, with `x` in place of what is computed. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/: (keyplane [a-z][^'"`]*)/g)].map(([, found = '']) =>
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
function problemOf(line: string): string | undefined {
  const [, ...words] = (line.split(/ [|<] /)[0] ?? '').split(' ')
  try {
    return parseCall(commands, words, 'posix').kind === 'run' ? undefined : 'no command'
  } catch (error) {
    return (error as Error).message
  }
}

test('every command that a hint names is one that the program takes', async () => {
  const lines = await named()
  expect(lines.length).toBeGreaterThan(20)
  const wrong = lines.map((line) => [line, problemOf(line)])
  expect(wrong.filter(([, problem]) => problem !== undefined)).toEqual([])
})
