/** Defines what a command declares: its words, options and examples. The help and the parser read nothing else. */
import type { Io } from '../io/io.ts'

export interface Option {
  type: 'string' | 'boolean'
  multiple?: true
  short?: string
  /** Placeholder of the value in the help, such as `DURATION`. */
  value?: string
  help: string
  /** A default to show in the help. The command applies it. */
  default?: string
  /** The values that there are. All others are refused with the nearest one. */
  choices?: readonly string[]
  /** What its values name, for completion. */
  names?: Named
  /** True if an empty value means something. All other options refuse it: mostly it is a variable that a script has not set. */
  mayBeEmpty?: true
}

/** What a shell may complete. `file` is left to the shell. */
export type Named =
  | 'keys'
  | 'contexts'
  | 'clusters'
  | 'virtual-clusters'
  /** Connected and virtual clusters. */
  | 'all-clusters'
  | 'trusts'
  | 'providers'
  | 'projects'
  | 'roles'
  | 'file'

export type Options = Readonly<Record<string, Option>>

export interface Positional {
  /** Placeholder in the usage, such as `NAME`. */
  name: string
  help: string
  optional?: true
  /** Takes all that follow. */
  multiple?: true
  /** What it names, for completion. */
  names?: Named
}

export interface Example {
  /** What the example does, as a short sentence without a period. */
  does: string
  run: string
}

/** The values of `-o`. `wide` is a table with more columns. Where there is `json`, there is `jsonpath=TEMPLATE` too. */
export type Format = 'json' | 'yaml' | 'name' | 'wide' | `jsonpath=${string}`

export type Values<O extends Options> = {
  [Name in keyof O]: O[Name] extends { multiple: true }
    ? string[]
    : O[Name] extends { type: 'boolean' }
      ? boolean
      : string | undefined
}

/** Values of the options that commands have in common. */
export interface CommonValues {
  context?: string | undefined
  output?: Format | undefined
}

export interface Input<O extends Options> {
  values: Values<O> & CommonValues
  positionals: readonly string[]
  /** The arguments after `--`; undefined without `--`. */
  rest: readonly string[] | undefined
}

export interface Command<O extends Options = Options> {
  /** The words that name the command, such as `['keys', 'create']`. */
  name: readonly string[]
  /** One sentence for lists of commands, without a period. */
  summary: string
  /** Further paragraphs for the help. */
  description?: string
  positionals?: readonly Positional[]
  /** The placeholder of what follows `--`, such as `COMMAND…`, with its help. Absent: nothing may follow. */
  rest?: Positional
  options: O
  examples: readonly Example[]
  /** The values of `-o`. Absent: the command has no `-o`. */
  formats?: readonly Format[]
  /** Returns the options that people mean who give this argument to a command that takes none. */
  meant?(argument: string): readonly string[] | undefined
  /** True for a command that never opens a session, and so has no `--context`. */
  local?: true
  /** Returns the exit code of a result that is not a success, although nothing failed. */
  run(input: Input<O>, io: Io): Promise<unknown>
}

/** Commands under one heading of the help. */
export interface Section {
  title: string
  commands: readonly Command[]
}

/** Returns the command, with the types of its values inferred from its options. */
export const command = <const O extends Options>(definition: Command<O>): Command => definition as unknown as Command
