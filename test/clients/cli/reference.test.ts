/** Compares docs/command-line.md with the table of commands. Its section about the commands is written by `npm test -- test/clients/cli/reference.test.ts -u`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Command } from '../../../clients/cli/src/arguments/command.ts'
import { usageOf } from '../../../clients/cli/src/arguments/help.ts'
import { commands, sections } from '../../../clients/cli/src/commands/index.ts'

const page = join(import.meta.dirname, '../../../docs/command-line.md')

test('docs/command-line.md describes every command and its options', async () => {
  const [head = ''] = (await readFile(page, 'utf8')).split(/^## Commands$/m)
  const written = sections.map(({ title, commands }) => `### ${title}\n\n${commands.map(described).join('\n')}`)
  await expect(`${head}## Commands\n\n${written.join('\n')}`).toMatchFileSnapshot(page)
})

test('every command has a summary without a period, and examples that are calls of it in any shell', () => {
  expect(commands.length).toBeGreaterThan(8)
  for (const { name, summary, examples } of commands) {
    expect([name, summary]).toEqual([name, expect.not.stringMatching(/\.$/)])
    expect([name, examples.length]).toEqual([name, expect.toSatisfy((count: number) => count > 0)])
    for (const { run } of examples) {
      expect(run).toContain(`keyplane ${name.join(' ')}`)
      // cmd takes single quotes as part of a word.
      expect(run).not.toContain("'")
    }
  }
})

function described(command: Command): string {
  const { summary, description, positionals = [], rest, options } = command
  const rows = [
    ...[...positionals, ...(rest ? [rest] : [])].map(({ name, help }) => [`\`${name}\``, help]),
    ...Object.entries(options).map(([name, { short, value, help, multiple, default: fallback }]) => [
      `\`${short ? `-${short}, ` : ''}--${name}${value === undefined ? '' : ` ${value}`}\``,
      `${help}${multiple ? '; may be repeated' : ''}${fallback === undefined ? '' : ` (default: ${fallback})`}`,
    ]),
  ]
  const table = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`).join('')
  return [
    `#### ${command.name.join(' ')}\n`,
    `\`${usageOf(command, 'keyplane')}\`\n`,
    `${[`${summary}.`, ...(description?.split('\n\n') ?? [])].join(' ')}\n`,
    ...(rows.length > 0 ? [`| argument or option | meaning |\n|---|---|\n${table}`] : []),
  ].join('\n')
}
