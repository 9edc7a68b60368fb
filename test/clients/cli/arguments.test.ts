/** Help pages, suggestions and what the arguments mean: on the real table of commands. */

import { describe, expect, test } from 'vitest'
import { seconds } from '../../../clients/cli/src/arguments/durations.ts'
import { helpPage } from '../../../clients/cli/src/arguments/help.ts'
import { optionsOf, parseCall } from '../../../clients/cli/src/arguments/parse.ts'
import { commands, sections } from '../../../clients/cli/src/commands/index.ts'
import { nearest } from '../../../clients/core/src/words/nearest.ts'
import cases from './vectors/arguments.cases.json' with { type: 'json' }

const parse = (line: string) => parseCall(commands, line === '' ? [] : line.split(' '), 'posix')
const page = (words: string, columns = 80) =>
  helpPage(sections, words === '' ? [] : words.split(' '), { call: 'keyplane', columns })

describe('a call', () => {
  test.each(cases.helped as [string, string[]][])('asks for help about: %j', (words, lines) => {
    const help = { kind: 'help', words: words === '' ? [] : words.split(' '), asked: true }
    expect(lines.map(parse)).toEqual(lines.map(() => help))
  })

  test('of a group alone shows its help as an error', () =>
    expect(parse('keys')).toEqual({ kind: 'help', words: ['keys'], asked: false }))

  test.each(['--version', '-V'])('asks for the version: %s', (line) => expect(parse(line)).toEqual({ kind: 'version' }))

  test.each(cases.placed)('may have its common options anywhere: %s', (line) => {
    expect(parse(line)).toMatchObject({ kind: 'run', input: { values: { context: 'a', output: 'json' } } })
  })

  test.each(cases.suggested as [string, string][])('is refused with what was meant: %s', (line, message) => {
    const call = () => {
      const { kind } = parse(line)
      if (kind === 'help') throw new Error('needs a value')
    }
    expect(call).toThrow(message.includes('|') ? new RegExp(message) : message)
  })

  test.each([
    ['token west --ttl 1h', 'keyplane token --cluster west --ttl 1h'],
    ['credential shop/dev --ttl 1h', 'keyplane credential --virtual-cluster shop/dev --ttl 1h'],
  ])('names the whole call that is meant: %s', (line, call) => {
    expect(() => parse(line)).toThrow(expect.objectContaining({ hint: `You probably mean: ${call}` }))
  })

  test('is refused with an empty value of any option, because a key without that limit may do more', () => {
    const read = commands.flatMap((command) =>
      Object.entries(optionsOf(command)).flatMap(([name, { type }]) => {
        if (type === 'boolean') return []
        try {
          return parseCall(commands, [...command.name, `--${name}=`], 'posix').kind === 'run'
            ? [[...command.name, name]]
            : []
        } catch (error) {
          return (error as Error).message === `the value of --${name} is empty` ? [] : [[error]]
        }
      }),
    )
    expect(read).toEqual([['revoke', 'type']])
  })

  test('does not suggest what has little in common', () => {
    expect(nearest('x', ['keys', 'list'])).toBeUndefined()
    expect(nearest('delete-everything', ['delete', 'create'])).toBeUndefined()
    expect(nearest('dsiable', ['disable', 'enable'])).toBe('disable')
  })
})

describe('a help page', () => {
  const all = ['', ...new Set(commands.map(({ name }) => name[0] ?? '')), ...commands.map(({ name }) => name.join(' '))]

  test.each(all)('fits the terminal, but for its examples and long words: keyplane %s', (words) => {
    for (const columns of [60, 80, 200]) {
      const text = page(words, columns)
      const isExample = (line: string) => /^ {2}(#|keyplane )/.test(line)
      const long = text
        .split('\n')
        .filter((line) => line.length > Math.min(columns, 100) && !/\S{30}/.test(line) && !/^Usage/.test(line))
      expect(long.filter((line) => !isExample(line))).toEqual([])
      expect(text).toMatch(/\S\n$/)
      expect(text).not.toMatch(/ \n|\n\n\n/)
    }
  })

  test('of the program names every command, the variables and the exit codes', () => {
    for (const { name } of commands) expect(page('', 300)).toContain(`  ${name.join(' ')} `)
    expect(page('')).toMatch(/KEYPLANE_URL[\s\S]*Exit codes\n {2}0 {2}done/)
  })

  test('of a command shows its examples before its options, as they can be copied', () => {
    const text = page('keys create')
    expect(text.indexOf('Examples')).toBeLessThan(text.indexOf('Options'))
    expect(text).toContain('\n  keyplane keys create ci --project shop --ttl 30d --key-file ci.key\n')
  })
})

test('a text that is not a duration is refused with examples', () =>
  expect(() => seconds('5', '--ttl')).toThrow('--ttl must be a duration such as 90s'))
