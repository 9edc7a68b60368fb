/** What is known of a setting of a deployment, and the names that follow from its own. */
import { forms } from '../../lib/server/process/variables.ts'

interface Described {
  /**
   * What it does: Markdown of docs/settings.md, and without its marks the description of the parameter. `**Cost:**` begins what a value
   * costs, and `**Effect:**` what stops working when the value is changed, or is wrong.
   */
  text: string
  /** What the absence of a value means, if that is not nothing. */
  absent?: string
  /** Settings that must be given with this one, if it is given or true. */
  requires?: readonly string[]
  /** Settings that must not be given with this one. */
  excludes?: readonly string[]
}

export interface IntegerSetting extends Described {
  type: 'integer'
  /** What it counts, such as `seconds`. */
  unit: string
  minimum: number
  maximum: number
  /** What 0 means, if it is allowed beside the range. */
  zero?: string
  /** The only allowed values. */
  values?: readonly number[]
  default?: number
}

interface FlagSetting extends Described {
  type: 'boolean'
  default: boolean
}

interface TextSetting extends Described {
  type: 'text'
  /** Matches the whole value. JavaScript, Java and Python understand it alike. */
  pattern: RegExp
  /** Description of valid values, after `must be`. */
  form: string
  maximumLength?: number
  default?: string
}

interface ChoiceSetting extends Described {
  type: 'choice'
  values: readonly string[]
  default?: string
}

export type Setting = IntegerSetting | FlagSetting | TextSetting | ChoiceSetting

/** Settings that belong together, under a heading of docs/settings.md. */
export interface Group {
  heading: string
  /** Functions with the variables of the group; undefined if other resources have its values. */
  functions?: 'all' | readonly string[]
  settings: Readonly<Record<string, Setting>>
}

/** Returns the environment variable of functions: MAX_KEY_TTL_SECONDS for max-key-ttl-seconds. */
export const variableOf = (name: string): string => name.toUpperCase().replaceAll('-', '_')

/** Returns the name of the parameter of the template: MaxKeyTtlSeconds for max-key-ttl-seconds. */
export const parameterOf = (name: string): string =>
  name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns what valid values of a setting are, after `must be`. */
export function formOf(setting: Setting): string {
  if (setting.type === 'boolean') return 'true or false'
  if (setting.type === 'text') return setting.form
  if (setting.type === 'choice' || setting.values) return `one of ${setting.values?.join(', ')}`
  const { zero, minimum, maximum } = setting
  return `${zero === undefined || minimum <= 1 ? '' : '0, or '}an integer from ${minimum} to ${maximum}`
}

export const flag = { type: 'boolean', default: false } as const

export const integer = (unit: string, minimum: number, maximum: number) =>
  ({ type: 'integer', unit, minimum, maximum }) as const

export const seconds = integer('seconds', 0, 3_153_600_000)

export const choice = (...values: readonly string[]) => ({ type: 'choice', values }) as const

export const text = (pattern: RegExp, form: string) => ({ type: 'text', pattern, form }) as const

/** Returns the form of an environment variable. */
export function named(variable: keyof typeof forms) {
  const [pattern, form] = forms[variable]
  return text(pattern, form)
}

/** Returns the form of the ARN of a resource in an account. */
export const arn = (service: string, resource: string, form: string) => ({
  ...text(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:([0-9]{12}|aws):${resource}$`), form),
  maximumLength: 512,
})
