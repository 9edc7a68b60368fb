/** Tests that the help of the command line is its reference: it describes every command, and docs/command-line.md names them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { helpPage, usageOf } from '../../../clients/cli/src/arguments/help.ts'
import { commands, sections } from '../../../clients/cli/src/commands/index.ts'

const page = join(import.meta.dirname, '../../../docs/command-line.md')

test('docs/command-line.md names every command, of which --help is the reference', async () => {
  const text = await readFile(page, 'utf8')
  const names = commands.map(({ name }) => name[0] ?? '')
  expect(names.length).toBeGreaterThan(15)
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
})

test('help describes every command with its arguments and options', () => {
  const described = sections.flatMap((section) => section.commands)
  expect(described.map(({ name }) => name)).toEqual(commands.map(({ name }) => name))
  for (const command of described) {
    const help = helpPage(sections, command.name, { call: 'keyplane', columns: 200 })
    const { positionals = [], rest, options } = command
    expect(help).toContain(usageOf(command, 'keyplane'))
    const named = [...positionals, ...(rest ? [rest] : [])].map(({ name }) => name)
    expect([...named, ...Object.keys(options).map((name) => `--${name}`)].filter((one) => !help.includes(one))).toEqual(
      [],
    )
  }
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
