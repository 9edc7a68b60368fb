/** Finds the command that the arguments name, and reads its options and positional arguments. */
import { parseArgs } from 'node:util'
import { type Shell, shellWords } from '../../../core/src/shellwords.ts'
import { nearest } from '../../../core/src/words/nearest.ts'
import { UsageError } from '../io/errors.ts'
import { canonical } from './aliases.ts'
import type { Command, CommonValues, Format, Input, Option, Options } from './command.ts'

const contextOption: Option = {
  type: 'string',
  value: 'NAME',
  names: 'contexts',
  help: 'context to use, as `keyplane login` named it (default: the current one)',
}
const outputOption = (formats: readonly Format[]): Option => ({
  type: 'string',
  short: 'o',
  value: formatsOf(formats).join('|'),
  help: 'print the result in this format',
})
const formatsOf = (formats: readonly Format[]): string[] => [
  ...formats,
  ...(formats.includes('json') ? ['jsonpath=TEMPLATE'] : []),
]
const EMPTY = 'Leave the option out, or give it a value. Is a variable not set?'
const helpOption: Option = { type: 'boolean', short: 'h', help: 'print this help' }

/** Returns all options of a command: its own, then those that commands have in common. */
export const optionsOf = ({ options, formats, local }: Command): Options => ({
  ...options,
  ...(formats && { output: outputOption(formats) }),
  ...(!local && { context: contextOption }),
  help: helpOption,
})

/** A command to run, or the words whose help is asked for. */
export type Call =
  | { kind: 'run'; command: Command; input: Input<Options> }
  | { kind: 'help'; words: readonly string[]; asked: boolean }
  | { kind: 'version' }

/** Returns what the arguments ask for. Throws a UsageError for unknown commands and options, with the nearest known ones for the shell. */
export function parseCall(commands: readonly Command[], args: readonly string[], shell: Shell): Call {
  const { leading, rest: written } = leadingOptions(args)
  const rest = canonical(written)
  const words = rest.slice(0, firstOption(rest))
  if (args.length === 0) return { kind: 'help', words: [], asked: true }
  if (words[0] === 'help') return { kind: 'help', words: knownWords(commands, canonical(words.slice(1))), asked: true }
  if (words.length === 0 && rest.some((one) => one === '--version' || one === '-V')) return { kind: 'version' }
  const found = commandOf(commands, words)
  if (found === undefined) {
    const asked = [...leading, ...rest].some((one) => one === '--help' || one === '-h')
    return { kind: 'help', words: knownWords(commands, words), asked }
  }
  if (beforeDashes(rest).some((one) => one === '--help' || one === '-h')) {
    return { kind: 'help', words: found.name, asked: true }
  }
  const input = readInput(found, [...leading, ...rest.slice(found.name.length)], shell)
  return { kind: 'run', command: found, input }
}

const beforeDashes = (args: readonly string[]) => args.slice(0, args.includes('--') ? args.indexOf('--') : undefined)

/** Splits off common options that stand before the command. */
export function leadingOptions(args: readonly string[]): { leading: string[]; rest: string[] } {
  const leading: string[] = []
  let at = 0
  while (at < args.length) {
    const one = args[at] ?? ''
    if (/^(--context|--output)=|^-o./.test(one)) leading.push(one)
    else if (/^(--context|--output|-o)$/.test(one)) leading.push(one, args[++at] ?? '')
    else break
    at++
  }
  return { leading, rest: args.slice(at) }
}

function firstOption(args: readonly string[]): number {
  const at = args.findIndex((one) => one.startsWith('-'))
  return at < 0 ? args.length : at
}

/** Returns the command with the longest name that the words begin with. */
function commandOf(commands: readonly Command[], words: readonly string[]): Command | undefined {
  const matching = commands.filter(({ name }) => name.every((word, index) => word === words[index]))
  return matching.toSorted((a, b) => b.name.length - a.name.length)[0]
}

/** Returns the words if they are the beginning of a command's name. Throws a UsageError otherwise. */
function knownWords(commands: readonly Command[], words: readonly string[]): readonly string[] {
  for (const [index, word] of words.entries()) {
    const before = words.slice(0, index)
    const inGroup = commands.filter(({ name }) => before.every((one, at) => name[at] === one))
    const known = new Set(inGroup.flatMap(({ name }) => name[index] ?? []))
    if (known.size === 0) return before
    if (!known.has(word)) {
      const group = ['keyplane', ...before].join(' ')
      const candidates = before.length === 0 ? [...known, 'help'] : [...known]
      const inside = index === 0 ? commands.find(({ name }) => name.length > 1 && name.at(-1) === word) : undefined
      const guess = inside?.name.join(' ') ?? nearest(word, candidates)
      const help = before.length === 0 ? 'keyplane --help' : `${group} --help`
      throw new UsageError(
        `${group} has no command "${word}"${guess === undefined ? '' : `: did you mean "${guess}"?`}`,
        `Run "${help}" for the commands.`,
      )
    }
  }
  return words
}

function readInput(command: Command, args: readonly string[], shell: Shell): Input<Options> {
  const options = optionsOf(command)
  const dashes = args.indexOf('--')
  const own = dashes < 0 ? args : args.slice(0, dashes)
  const rest = dashes < 0 ? undefined : args.slice(dashes + 1)
  const call = ['keyplane', ...command.name].join(' ')
  const usage = `Run "${call} --help" for its options and examples.`
  const refuse = (message: string, hint = usage): never => {
    throw new UsageError(message, hint)
  }
  const { tokens } = parseArgs({
    args: [...own],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type, short }]) => [name, { type, ...(short && { short }) }]),
    ),
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const values: Record<string, unknown> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const option = options[token.name]
    if (option === undefined || !Object.hasOwn(options, token.name)) {
      const guess = token.rawName.startsWith('--') ? nearest(token.name, Object.keys(options)) : undefined
      return refuse(`${call} has no option ${token.rawName}${guess === undefined ? '' : `: did you mean --${guess}?`}`)
    }
    if (option.type === 'boolean') {
      if (token.value !== undefined) refuse(`${token.rawName} takes no value`)
      values[token.name] = true
      continue
    }
    // `-o=json`, as kubectl allows it.
    const value = token.rawName.startsWith('--') ? token.value : token.value?.replace(/^=/, '')
    if (value === undefined || (!token.inlineValue && /^-[^\d]/.test(value))) {
      return refuse(`${token.rawName} needs a value: ${token.rawName} ${option.value ?? 'VALUE'}`)
    }
    if (value.trim() === '' && !option.mayBeEmpty) refuse(`the value of ${token.rawName} is empty`, EMPTY)
    const { choices } = option
    const wrong = (option.multiple ? value.split(',') : [value]).find((one) => choices && !choices.includes(one.trim()))
    if (choices && wrong !== undefined) {
      const guess = nearest(wrong, choices)
      refuse(
        `${token.rawName} must be one of ${choices.join(', ')}, not "${wrong}"${guess === undefined ? '' : `: did you mean ${guess}?`}`,
      )
    }
    if (option.multiple) values[token.name] = [...((values[token.name] as string[] | undefined) ?? []), value]
    else if (values[token.name] !== undefined) refuse(`${token.rawName} is given twice`)
    else values[token.name] = value
  }
  for (const [name, { type, multiple }] of Object.entries(options)) {
    if (multiple) values[name] ??= []
    else if (type === 'boolean') values[name] ??= false
  }
  const [extra] = positionals
  const meant = positionals.length === 1 && !command.positionals ? command.meant?.(extra ?? '') : undefined
  if (meant !== undefined) {
    const right = args.flatMap((one) => (one === extra ? meant : [one]))
    refuse(`${call} takes no arguments, but got "${extra}"`, `You probably mean: ${call} ${shellWords(right, shell)}`)
  }
  checkPositionals(command, positionals, refuse)
  if (rest !== undefined && command.rest === undefined) refuse(`${call} takes nothing after --`)
  if (rest === undefined && command.rest !== undefined && !command.rest.optional)
    refuse(`-- ${command.rest.name} is missing`)
  const { output } = values as CommonValues
  if (output !== undefined && command.formats && !isFormat(command.formats, output)) {
    refuse(`-o must be one of ${formatsOf(command.formats).join(', ')}, not "${output}"`)
  }
  return { values: values as Input<Options>['values'], positionals, rest }
}

const isFormat = (formats: readonly Format[], text: string): boolean =>
  formats.some((one) => one === text) || (formats.includes('json') && text.startsWith('jsonpath='))

function checkPositionals(
  { name, positionals = [] }: Command,
  given: readonly string[],
  refuse: (message: string) => never,
) {
  const call = ['keyplane', ...name].join(' ')
  const missing = positionals[given.length]
  if (missing !== undefined && !missing.optional) refuse(`${call} needs ${missing.name}: ${missing.help}`)
  const many = positionals.some(({ multiple }) => multiple)
  const extra = given[positionals.length]
  if (!many && extra !== undefined) {
    refuse(
      positionals.length === 0
        ? `${call} takes no arguments, but got "${extra}"`
        : `${call} takes ${positionals.map((one) => one.name).join(' ')}, but got "${extra}" as well`,
    )
  }
}
