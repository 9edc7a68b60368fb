/** Parses the options of the commands of package.json, prints `--help`, and sets exit codes. */
import { type ParseArgsOptionDescriptor, parseArgs } from 'node:util'

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

const helpOption: Option = { type: 'boolean', help: 'print this help' }

/** Returns the options and positional arguments. Throws a UsageError for unknown and for missing ones. */
export function readCall<const O extends Options>(command: Command<O>, args: readonly string[]) {
  const { values, positionals } = parseArguments(command, args)
  for (const [name, { required }] of Object.entries(command.options)) {
    if (required && values[name] === undefined) throw new UsageError(`--${name} is missing`)
  }
  for (const [name, { type, multiple }] of Object.entries(command.options)) {
    if (type === 'boolean') values[name] ??= false
    else if (multiple) values[name] ??= []
  }
  return { values: values as Values<O>, words: positionals }
}

function parseArguments({ options, words }: Command, args: readonly string[]) {
  try {
    const allowPositionals = words !== undefined
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...options, help: helpOption },
      allowPositionals,
    })
    return { values: values as Record<string, unknown>, positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Runs a command. Prints a UsageError with the usage and exits with 2; exits with 1 for any other error. */
export async function runCommand<const O extends Options>(
  command: Command<O>,
  work: (values: Values<O>, words: readonly string[]) => Promise<void>,
): Promise<void> {
  const args = process.argv.slice(2)
  try {
    if (parseArguments(command, args).values.help) {
      process.stdout.write(helpOf(command))
      return
    }
    const { values, words } = readCall(command, args)
    await work(values, words)
  } catch (error) {
    const usage = `usage: ${usageOf(command)}\n`
    process.stderr.write(`${(error as Error).message}\n${error instanceof UsageError ? usage : ''}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

/** Returns the output of `--help`: usage, description, options and environment variables. */
export function helpOf(command: Command): string {
  const { about, options, variables = {} } = command
  const rows = Object.entries({ ...options, help: helpOption }).map(
    ([name, option]) => [signature(name, option), described(option)] as const,
  )
  const all = [...rows, ...Object.entries(variables)]
  const width = Math.max(...all.map(([name]) => name.length)) + 2
  const table = (lines: readonly (readonly [string, string])[]) =>
    lines.map(([name, text]) => `  ${name.padEnd(width)}${text}\n`).join('')
  const environment = Object.entries(variables)
  return `usage: ${usageOf(command)}

${about}

options
${table(rows)}${environment.length > 0 ? `\nenvironment\n${table(environment)}` : ''}`
}

function usageOf({ call, options, words }: Command): string {
  const parts = Object.entries(options).map(([name, option]) => {
    const one = signature(name, option)
    if (option.required) return one
    return `[${one}]${option.multiple ? '...' : ''}`
  })
  const all = [...(words === undefined ? [] : [words]), ...parts]
  return [call, ...(all.length > 0 ? ['--', ...all] : [])].join(' ')
}

const signature = (name: string, { value }: Option) => `--${name}${value === undefined ? '' : ` ${value}`}`

const described = ({ help, default: fallback }: Option) =>
  fallback === undefined ? help : `${help} (default ${String(fallback)})`
