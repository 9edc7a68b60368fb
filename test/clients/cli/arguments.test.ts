/** Help pages, suggestions and what the arguments mean: on the real table of commands. */
import { describe, expect, test } from 'vitest'
import { duration, seconds } from '../../../clients/cli/src/arguments/durations.ts'
import { helpPage } from '../../../clients/cli/src/arguments/help.ts'
import { nearest } from '../../../clients/cli/src/arguments/nearest.ts'
import { parseCall } from '../../../clients/cli/src/arguments/parse.ts'
import { commands, sections } from '../../../clients/cli/src/commands/index.ts'

const parse = (line: string) => parseCall(commands, line === '' ? [] : line.split(' '))
const page = (words: string, columns = 80) =>
  helpPage(sections, words === '' ? [] : words.split(' '), { call: 'keyplane', columns })

describe('a call', () => {
  test.each([
    ['', []],
    ['--help', []],
    ['-h', []],
    ['help', []],
    ['help keys', ['keys']],
    ['help keys create', ['keys', 'create']],
    ['keys --help', ['keys']],
    ['keys create -h', ['keys', 'create']],
    ['keys create ci --ttl 1d --help', ['keys', 'create']],
    ['keys create --nonsense --help', ['keys', 'create']],
    ['--context a keys -h', ['keys']],
  ])('asks for help: %j', (line, words) => {
    expect(parse(line)).toEqual({ kind: 'help', words, asked: true })
  })

  test('of a group alone shows its help as an error', () => {
    expect(parse('keys')).toEqual({ kind: 'help', words: ['keys'], asked: false })
  })

  test.each(['--version', '-V'])('asks for the version: %s', (line) => {
    expect(parse(line)).toEqual({ kind: 'version' })
  })

  test.each([
    '--context=a -o json keys list',
    '-ojson --context a keys list',
    'keys list --context a -o json',
    'keys list --output=json --context=a',
  ])('may have its common options anywhere: %s', (line) => {
    expect(parse(line)).toMatchObject({ kind: 'run', input: { values: { context: 'a', output: 'json' } } })
  })

  test.each([
    ['key list', 'keyplane has no command "key": did you mean "keys"?'],
    ['keys creat', 'keyplane keys has no command "creat": did you mean "create"?'],
    ['keys lsit', 'did you mean "list"?'],
    ['create ci', 'keyplane has no command "create": did you mean "keys create"?'],
    ['WHOAMI', 'did you mean "whoami"?'],
    ['hlep', 'did you mean "help"?'],
    ['frobnicate', 'keyplane has no command "frobnicate"'],
    ['help keys creat', 'did you mean "create"?'],
    ['keys list --selecter a', 'keyplane keys list has no option --selecter: did you mean --selector?'],
    ['keys create --virtualcluster a/b', 'did you mean --virtual-cluster?'],
    ['keys list -x', 'keyplane keys list has no option -x'],
    ['keys list -o table', '-o must be one of json, yaml, name, not "table"'],
    ['keys list __proto__', 'keyplane keys list takes no arguments, but got "__proto__"'],
    ['keys show', 'keyplane keys show needs NAME: name of the key'],
    ['logout -o json', 'keyplane logout has no option -o'],
    ['--context', 'did you mean|needs a value|has no command'],
  ])('is refused with what was meant: %s', (line, message) => {
    const call = () => {
      const { kind } = parse(line)
      if (kind === 'help') throw new Error('needs a value')
    }
    expect(call).toThrow(message.includes('|') ? new RegExp(message) : message)
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

describe('durations', () => {
  test.each([
    ['90s', 90],
    ['30m', 1800],
    ['12h', 43_200],
    ['7d', 604_800],
    ['2w', 1_209_600],
    ['1h30m', 5400],
    ['0s', 0],
  ])('%s is %i seconds', (text, value) => {
    expect(seconds(text, '--ttl')).toBe(value)
  })

  test.each(['', '5', '1.5h', '-1h', '1y', 'h', '1 h', '1H', '٣d', `${'9'.repeat(10)}s`])('%j is refused', (text) => {
    expect(() => seconds(text, '--ttl')).toThrow('--ttl must be a duration such as 90s')
  })

  test.each([
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [60, '1m'],
    [3600, '1h'],
    [5400, '90m'],
    [7199, '2h'],
    [86_390, '1d'],
    [100_000, '28h'],
    [7200, '2h'],
    [172_800, '2d'],
    [2_591_990, '30d'],
    [63_072_000, '2y'],
    [-5, '0s'],
  ])('%i seconds are %s for people', (value, text) => {
    expect(duration(value)).toBe(text)
  })
})
