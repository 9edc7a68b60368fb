/** Finds what may follow the words of a command line, from the table of commands that the help and the parser read. */
import type { Command, Format, Named, Option, Positional, Section } from '../arguments/command.ts'
import { leadingOptions, optionsOf } from '../arguments/parse.ts'

export interface Candidate {
  value: string
  /** For shells that show one. */
  help?: string
}

/** What a shell may offer: words, the names of objects after a prefix, or its own list of files. */
export type Completion =
  | { kind: 'words'; words: readonly Candidate[] }
  | { kind: 'names'; named: Exclude<Named, 'file'>; context: string | undefined; prefix: string }
  | { kind: 'files' }

const NOTHING: Completion = { kind: 'words', words: [] }

/** Returns what may be written in place of the last word, which is unfinished and may be empty. */
export function completionOf(sections: readonly Section[], words: readonly string[]): Completion {
  const commands = sections.flatMap((section) => section.commands)
  const current = words.at(-1) ?? ''
  const { before, context } = withoutContext(words.slice(0, -1))
  if (before.at(-1) === '--context') return { kind: 'names', named: 'contexts', context: undefined, prefix: '' }
  const found = commandOf(commands, before)
  const next = wordsAfter(commands, before, current)
  if (found === undefined || next.length > 0) return { kind: 'words', words: next }
  return inCommand(found, before.slice(found.name.length), current, context)
}

/** Takes the common options from before the command, and finds the context. */
function withoutContext(words: readonly string[]): { before: string[]; context: string | undefined } {
  const at = words.lastIndexOf('--context')
  const inline = words.findLast((one) => one.startsWith('--context='))?.slice('--context='.length)
  const context = at >= 0 ? words[at + 1] : inline
  if (at >= 0 && at === words.length - 1) return { before: [...words], context: undefined }
  return { before: leadingOptions(words).rest, context: context || undefined }
}

const commandOf = (commands: readonly Command[], words: readonly string[]): Command | undefined =>
  commands
    .filter(({ name }) => name.every((word, index) => word === words[index]))
    .toSorted((a, b) => b.name.length - a.name.length)[0]

/** Returns the words of commands that may come next. */
function wordsAfter(commands: readonly Command[], before: readonly string[], current: string): Candidate[] {
  const inGroup = commands.filter(
    ({ name }) => name.length > before.length && before.every((word, index) => word === name[index]),
  )
  const words = new Map<string, string>()
  for (const { name, summary } of inGroup) {
    const word = name[before.length] ?? ''
    const isWhole = name.length === before.length + 1
    if (isWhole || !words.has(word)) words.set(word, isWhole ? summary : `commands of ${word}`)
  }
  if (before.length === 0) words.set('help', 'explain a command')
  return [...words].map(([value, help]) => ({ value, help })).filter(({ value }) => value.startsWith(current))
}

function inCommand(
  command: Command,
  given: readonly string[],
  current: string,
  context: string | undefined,
): Completion {
  const options = optionsOf(command)
  // What follows is a command of its own.
  if (given.includes('--')) return { kind: 'files' }
  const at = (option: Option, text: string, before = ''): Completion =>
    valuesOf(option, text, { context, before, formats: command.formats })
  const open = openOption(options, given.at(-1))
  if (open !== undefined) return at(open, current)
  const [, name, value] = /^--([^=]+)=(.*)$/s.exec(current) ?? []
  if (name !== undefined && Object.hasOwn(options, name)) {
    const option = options[name]
    return option?.type === 'string' ? at(option, value ?? '', `--${name}=`) : NOTHING
  }
  if (current.startsWith('-')) {
    const words = Object.entries(options)
      .filter(([one, { multiple }]) => multiple || !given.includes(`--${one}`))
      .map(([one, { help }]) => ({ value: `--${one}`, help }))
    return { kind: 'words', words: words.filter((one) => one.value.startsWith(current)) }
  }
  const positional = positionalAt(command, given, options)
  if (positional === undefined) return NOTHING
  const named = positional.names ?? BY_PLACEHOLDER[positional.name]
  return named === undefined ? NOTHING : namesOf(named, context, '')
}

/** Returns the option whose value comes next, such as that of `--ttl`. */
function openOption(options: Readonly<Record<string, Option>>, last = ''): Option | undefined {
  const found = Object.entries(options).find(([name, { short }]) => last === `--${name}` || last === `-${short}`)
  return found?.[1].type === 'string' ? found[1] : undefined
}

function positionalAt(
  { positionals = [] }: Command,
  given: readonly string[],
  options: Readonly<Record<string, Option>>,
): Positional | undefined {
  const count = given.filter((word, index) => !word.startsWith('-') && !openOption(options, given[index - 1])).length
  const last = positionals.at(-1)
  return positionals[count] ?? (last?.multiple ? last : undefined)
}

/** What placeholders of options and arguments name. */
const BY_PLACEHOLDER: Readonly<Record<string, Named>> = {
  FILE: 'file',
  CLUSTER: 'clusters',
  PROJECT: 'projects',
  'PROJECT/NAME': 'virtual-clusters',
  'ROLE[=WHERE]': 'roles',
}

interface At {
  context: string | undefined
  /** What stands in the word before the value. */
  before: string
  formats: readonly Format[] | undefined
}

function valuesOf(option: Option, text: string, { context, before, formats }: At): Completion {
  // A list continues after its last comma.
  const list = option.multiple ? text.slice(0, text.lastIndexOf(',') + 1) : ''
  const prefix = before + list
  const choices = option.choices ?? alternatives(option.value) ?? []
  const words = option.short === 'o' && formats ? formats : choices
  if (words.length > 0)
    return {
      kind: 'words',
      words: words.map((one) => ({ value: prefix + one })).filter(({ value }) => value.startsWith(before + text)),
    }
  const named = option.names ?? BY_PLACEHOLDER[option.value ?? '']
  return named === undefined ? NOTHING : namesOf(named, context, prefix)
}

const namesOf = (named: Named, context: string | undefined, prefix: string): Completion =>
  named === 'file' ? { kind: 'files' } : { kind: 'names', named, context, prefix }

/** Returns the values in a placeholder such as `token|cert`. */
const alternatives = (placeholder = ''): string[] | undefined =>
  /^[a-z0-9]+(\|[a-z0-9]+)+$/.test(placeholder) ? placeholder.split('|') : undefined
