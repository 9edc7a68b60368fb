/** What is known of a setting of a deployment, and the names that follow from its own. */
import { forms } from '../../lib/server/process/variables.ts'

interface Described {
  /** What it does: Markdown of docs/settings.md, and without its marks the description of the parameter. */
  meaning: string
  /** What a value costs, if it costs. */
  costs?: string
  /** What stops working when the value is changed, or is wrong. */
  breaks?: string
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

export interface FlagSetting extends Described {
  type: 'boolean'
  default: boolean
}

export interface TextSetting extends Described {
  type: 'text'
  /** Matches the whole value. JavaScript, Java and Python understand it alike. */
  pattern: RegExp
  /** Description of valid values, after `must be`. */
  form: string
  values?: readonly string[]
  maximumLength?: number
  default?: string
  /** What the absence of a value means, if that is not nothing. */
  absent?: string
}

export type Setting = IntegerSetting | FlagSetting | TextSetting

/** Settings that belong together, under a heading of docs/settings.md. */
export interface Group {
  heading: string
  /** Functions with the variables of the group; undefined if other resources have its values. */
  functions?: 'all' | readonly string[]
  settings: Readonly<Record<string, Setting>>
}

/** Returns the name of the environment variable of functions: MAX_KEY_TTL_SECONDS for max-key-ttl-seconds. */
export const variableOf = (name: string): string => name.toUpperCase().replaceAll('-', '_')

/** Returns the name of the parameter of the template: MaxKeyTtlSeconds for max-key-ttl-seconds. */
export const parameterOf = (name: string): string =>
  name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns what valid values of a setting are, after `must be`. */
export function formOf(setting: Setting): string {
  if (setting.type === 'boolean') return 'true or false'
  if (setting.values) return `one of ${setting.values.join(', ')}`
  if (setting.type === 'text') return setting.form
  const { zero, minimum, maximum } = setting
  return `${zero === undefined || minimum <= 1 ? '' : '0, or '}an integer from ${minimum} to ${maximum}`
}

/** Returns a setting whose values have the form of an environment variable. */
export const text = (name: keyof typeof forms, more: Omit<TextSetting, 'type' | 'pattern' | 'form'>): TextSetting => ({
  type: 'text',
  pattern: forms[name][0],
  form: forms[name][1],
  ...more,
})
