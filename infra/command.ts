/** Parses the options of the commands of package.json, prints `--help`, and sets exit codes. */
import { type ParseArgsConfig, type ParseArgsOptionDescriptor, parseArgs } from 'node:util'

export interface Option extends ParseArgsOptionDescriptor {
  help: string
  /** Placeholder of the value in the help, such as `STAGE`. */
  value?: string
  required?: true
}

type Options = Readonly<Record<string, Option>>

export interface Command<O extends Options = Options> {
  /** How the command is run, such as `npm run deploy`. */
  call: string
  about: string
  options: O
  /** Positional arguments, such as `[PART...]`. */
  words?: string
  /** Environment variables that the command reads, with their descriptions. */
  variables?: Readonly<Record<string, string>>
  /** Settings of a deployment that are options too, with the environment variables that the command reads in their place. */
  settings?: Readonly<Record<string, string>>
}

type Values<O extends Options> = {
  [Name in keyof O]: O[Name] extends { type: 'boolean' }
    ? boolean
    : O[Name] extends { multiple: true }
      ? string[]
      : O[Name] extends { required: true } | { default: string }
        ? string
        : string | undefined
}

/** Reports an invalid call. The message is printed with the usage. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const help: Option = { type: 'boolean', help: 'print this help' }

/**
 * Returns the options, the positional arguments and the settings. Throws a UsageError for unknown options, and for missing ones unless help is
 * asked for.
 */
export function readCall<const O extends Options>(command: Command<O>, args: readonly string[]) {
  const { options, words, settings = {} } = command
  const names = Object.keys(settings)
  const { values, positionals } = parsed({
    args: [...args],
    options: { ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])), ...options, help },
    allowPositionals: words !== undefined,
  })
  const given = names.flatMap((name) => (values[name] === undefined ? [] : [[name, String(values[name])] as const]))
  for (const [name, { type, multiple, required }] of Object.entries(options)) {
    if (required && values[name] === undefined && !values.help) throw new UsageError(`--${name} is missing`)
    if (type === 'boolean') values[name] ??= false
    else if (multiple) values[name] ??= []
  }
  return { values: values as Values<O> & { help?: true }, words: positionals, settings: Object.fromEntries(given) }
}

function parsed(call: ParseArgsConfig): { values: Record<string, unknown>; positionals: string[] } {
  try {
    return parseArgs(call)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Runs a command. Prints a UsageError with the usage and exits with 2; exits with 1 for any other error. */
export async function runCommand<const O extends Options>(
  command: Command<O>,
  work: (values: Values<O>, words: readonly string[], settings: Readonly<Record<string, string>>) => Promise<void>,
): Promise<void> {
  try {
    const { values, words, settings } = readCall(command, process.argv.slice(2))
    if (values.help) process.stdout.write(helpOf(command))
    else await work(values, words, settings)
  } catch (error) {
    const usage = error instanceof UsageError ? `usage: ${usageOf(command)}\n` : ''
    process.stderr.write(`${(error as Error).message}\n${usage}`)
    process.exitCode = usage === '' ? 1 : 2
  }
}

/** Returns the output of `--help`: usage, description, options, settings and environment variables. */
export function helpOf(command: Command): string {
  const { about, options, variables = {}, settings = {} } = command
  const rows = Object.entries({ ...options, help }).map(([name, option]) => [
    signature(name, option),
    described(option),
  ])
  const environment = Object.entries(variables)
  const width = Math.max(...[...rows, ...environment].map(([name = '']) => name.length)) + 2
  const table = (lines: readonly (readonly string[])[]) =>
    lines.map(([name = '', text]) => `${name.padEnd(width)}${text}`)
  const list = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? '' : `\n${title}\n${lines.map((line) => `  ${line}\n`).join('')}`
  return [
    `usage: ${usageOf(command)}\n\n${about}\n`,
    list('options', table(rows)),
    list(
      'settings of a deployment (docs/settings.md)',
      Object.entries(settings).map(([name, variable]) => `--${name} VALUE, or ${variable}=VALUE`),
    ),
    list('environment', table(environment)),
  ].join('')
}

function usageOf({ call, options, words, settings }: Command): string {
  const parts = Object.entries(options).map(([name, option]) => {
    const one = signature(name, option)
    if (option.required) return one
    return `[${one}]${option.multiple ? '...' : ''}`
  })
  const all = [...(words === undefined ? [] : [words]), ...parts, ...(settings ? ['[--SETTING VALUE]...'] : [])]
  return [call, ...(all.length > 0 ? ['--', ...all] : [])].join(' ')
}

const signature = (name: string, { value }: Option) => `--${name}${value === undefined ? '' : ` ${value}`}`

const described = ({ help, default: fallback }: Option) =>
  fallback === undefined ? help : `${help} (default ${String(fallback)})`
