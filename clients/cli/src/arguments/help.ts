/** Writes the help pages of the program, of a group of commands, and of a command. */
import type { Command, Section } from './command.ts'
import { optionsOf } from './parse.ts'

/** What the pages say of the program. */
export interface Program {
  /** How it was called: `keyplane` or `kubectl keyplane`. */
  call: string
  /** The width of the terminal. */
  columns: number
}

const ABOUT = 'keyplane manages access keys, and gives credentials for connected clusters and virtual clusters.'

const ENVIRONMENT: readonly Row[] = [
  ['KEYPLANE_URL', 'URL of the API; with a key below, no login is needed and contexts are ignored'],
  ['KEYPLANE_KEY, KEYPLANE_KEY_FILE', 'access key, or a file with it'],
  ['KEYPLANE_CA', 'file with the certificate authority of the API'],
  ['KEYPLANE_CONFIG', 'file of the contexts (default ~/.config/keyplane/config.json)'],
  ['NO_COLOR', 'if set, nothing is coloured'],
]

const EXIT_CODES: readonly Row[] = [
  ['0', 'done'],
  ['1', 'failed: the network, the server or this machine; explain: not allowed'],
  ['2', 'wrong usage'],
  ['4', 'the server refused the request'],
]

type Row = readonly [string, string]

/** Returns the help of the command that the words name, of the group that they begin, or of the program. */
export function helpPage(sections: readonly Section[], words: readonly string[], program: Program): string {
  const commands = sections.flatMap((section) => section.commands)
  if (words.length === 0) return programPage(sections, program)
  const found = commands.find(({ name }) => name.join(' ') === words.join(' '))
  return found === undefined ? groupPage(commands, words, program) : commandPage(found, program)
}

function programPage(sections: readonly Section[], program: Program): string {
  const { call } = program
  const lists = sections.filter(({ commands }) => commands.length > 0)
  return blocks([
    wrapped(ABOUT, program, 0),
    `Usage: ${call} COMMAND [OPTIONS]`,
    `Start with\n${[`${call} login URL`, `${call} whoami`, `${call} keys list`].map((line) => `  ${line}\n`).join('')}`,
    ...lists.map(({ title, commands }) => `${title}\n${table(commands.map(rowOf), program)}`),
    `Environment\n${table(ENVIRONMENT, program)}`,
    `Exit codes\n${table(EXIT_CODES, program)}`,
    wrapped(
      `${call} COMMAND --help explains a command, with examples. ${call} --version prints the version. The server has the documentation, at https://HOST/console/docs/, with its stage before /console if it has one, and this program: npm install --global https://HOST/console/keyplane.tgz`,
      program,
      0,
    ),
  ])
}

function groupPage(commands: readonly Command[], words: readonly string[], program: Program): string {
  const inGroup = commands.filter(({ name }) => words.every((word, index) => word === name[index]))
  const call = [program.call, ...words].join(' ')
  return blocks([
    `Usage: ${call} COMMAND [OPTIONS]`,
    `Commands\n${table(inGroup.map(rowOf), program)}`,
    `Examples\n${inGroup
      .flatMap(({ examples }) => examples.slice(0, 1))
      .map((one) => example(one, program))
      .join('')}`,
    wrapped(`${call} COMMAND --help explains a command, with all its options.`, program, 0),
  ])
}

function commandPage(command: Command, program: Program): string {
  const { summary, description, examples, positionals = [], rest } = command
  const all = [...positionals, ...(rest ? [{ ...rest, name: `-- ${rest.name}` }] : [])]
  return blocks([
    `Usage: ${usageOf(command, program.call)}`,
    wrapped(`${summary}.`, program, 0),
    ...(description === undefined ? [] : description.split('\n\n').map((text) => wrapped(text, program, 0))),
    `Examples\n${examples.map((one) => example(one, program)).join('')}`,
    ...(all.length > 0
      ? [
          `Arguments\n${table(
            all.map(({ name, help }): Row => [name, help]),
            program,
          )}`,
        ]
      : []),
    `Options\n${table(optionRows(command), program)}`,
  ])
}

/** Returns the line that shows how a command is called. */
export function usageOf({ name, positionals = [], rest, formats }: Command, call: string): string {
  const words = positionals.map(({ name: word, optional, multiple }) => {
    const one = `${word}${multiple ? '…' : ''}`
    return optional ? `[${one}]` : one
  })
  const after = rest === undefined ? [] : [rest.optional ? `[-- ${rest.name}]` : `-- ${rest.name}`]
  const output = formats === undefined ? [] : ['[-o FORMAT]']
  return [call, ...name, ...words, '[OPTIONS]', ...output, ...after].join(' ')
}

const rowOf = ({ name, summary }: Command): Row => [name.join(' '), summary]

const optionRows = (command: Command): Row[] =>
  Object.entries(optionsOf(command)).map(([name, { short, value, help, multiple, default: fallback }]) => [
    `${short ? `-${short}, ` : '    '}--${name}${value === undefined ? '' : ` ${value}`}`,
    `${help}${multiple ? '; may be repeated' : ''}${fallback === undefined ? '' : ` (default: ${fallback})`}`,
  ])

/** A page names the program as its user called it. */
const example = ({ does, run }: Command['examples'][number], { call }: Program): string =>
  `  # ${does}\n${run.replaceAll(/\bkeyplane (?=[a-z])/g, `${call} `).replaceAll(/^/gm, '  ')}\n\n`

/** Joins blocks by one empty line. */
const blocks = (parts: readonly string[]): string => `${parts.map((part) => part.trimEnd()).join('\n\n')}\n`

function table(rows: readonly Row[], { columns }: Program): string {
  const widest = Math.min(34, Math.floor(columns / 2) - 6)
  const width = Math.min(Math.max(...rows.map(([left]) => left.length)), widest) + 2
  return rows
    .map(([left, right]) => {
      const text = wrapped(right, { columns }, width + 2)
      return left.length > width - 2
        ? `  ${left}\n${' '.repeat(width + 2)}${text}\n`
        : `  ${left.padEnd(width)}${text}\n`
    })
    .join('')
}

/** Breaks a text into lines of at most the terminal's width, all but the first indented. */
function wrapped(text: string, { columns }: Pick<Program, 'columns'>, indent: number): string {
  const width = Math.max(20, Math.min(columns, 100) - indent)
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join(`\n${' '.repeat(indent)}`)
}
