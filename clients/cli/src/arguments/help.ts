/** Writes the help pages of the program, of a group of commands, and of a command. */
import type { Command } from './command.ts'
import { optionsOf } from './parse.ts'

/** Returns the help of the command that the words name, or of the group that they begin. */
export function helpPage(commands: readonly Command[], words: readonly string[], program: string): string {
  const found = commands.find(({ name }) => name.join(' ') === words.join(' '))
  return found === undefined ? groupPage(commands, words, program) : commandPage(found, program)
}

function groupPage(commands: readonly Command[], words: readonly string[], program: string): string {
  const inGroup = commands.filter(({ name }) => words.every((word, index) => word === name[index]))
  const rows = inGroup.map(({ name, summary }): [string, string] => [name.join(' '), summary])
  return `Usage: ${[program, ...words].join(' ')} COMMAND\n\n${table(rows)}`
}

function commandPage(command: Command, program: string): string {
  const { name, summary, description, examples } = command
  const options = Object.entries(optionsOf(command)).map(([option, { short, value, help }]): [string, string] => [
    `${short ? `-${short}, ` : '    '}--${option}${value === undefined ? '' : ` ${value}`}`,
    help,
  ])
  return [
    `Usage: ${[program, ...name].join(' ')} [OPTIONS]`,
    `${summary}.`,
    ...(description === undefined ? [] : [description]),
    `Examples\n${examples.map(({ does, run }) => `  ${does}:\n    ${run}\n`).join('')}`,
    `Options\n${table(options)}`,
  ].join('\n\n')
}

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `  ${left.padEnd(width)}${right}\n`).join('')
}
