/** Reads the settings that a command is given. */
import { forms } from '../../lib/server/process/variables.ts'
import { UsageError } from '../command.ts'
import { formOf, parameterOf, type Setting } from './setting.ts'
import { settings } from './table.ts'

/** Values of parameters of the template by their names. */
export type ParameterValues = Readonly<Record<string, string>>

/**
 * Reads texts of the form `NAME=VALUE`. Throws a UsageError for a setting that does not exist, for a wrong value, and for a missing
 * one.
 */
export function readValues(given: readonly string[]): ParameterValues {
  const values = new Map<string, string>()
  for (const one of given) {
    const [, name = '', value = ''] = /^([a-z-]+)=(.*)$/s.exec(one) ?? []
    if (name === '') throw new UsageError(`--param ${one} is not NAME=VALUE`)
    const setting = settings.get(name)
    // A misspelled setting would silently leave the default in force.
    if (!setting) throw new UsageError(`there is no setting ${name}`)
    if (!accepts(setting, value)) throw new UsageError(`the setting ${name} must be ${formOf(setting)}`)
    values.set(name, value)
  }
  for (const [name, value] of values) {
    if (value === 'false') continue
    const { requires = [], excludes = [] } = settings.get(name) ?? {}
    const missing = requires.find((other) => !values.has(other))
    if (missing !== undefined) throw new UsageError(`the setting ${name} requires ${missing}`)
    const excluded = excludes.find((other) => values.has(other))
    if (excluded !== undefined) throw new UsageError(`the setting ${name} excludes ${excluded}`)
  }
  return Object.fromEntries([...values].map(([name, value]) => [parameterOf(name), value]))
}

/** Returns what is wrong with the name of a stage, as `must be …`, or undefined. */
export function stageError(stage: string): string | undefined {
  const [pattern, form] = forms.STAGE
  return pattern.test(stage) ? undefined : `must be ${form}`
}

/** Reports whether a text is a value of the setting. */
export function accepts(setting: Setting, value: string): boolean {
  if (setting.type === 'boolean') return value === 'true' || value === 'false'
  if (setting.type === 'choice') return setting.values.includes(value)
  if (setting.type === 'text') return setting.pattern.test(value) && value.length <= (setting.maximumLength ?? 4096)
  if (!/^(0|[1-9]\d{0,12})$/.test(value)) return false
  const number = Number(value)
  if (setting.values) return setting.values.includes(number)
  const inRange = number >= setting.minimum && number <= setting.maximum
  return inRange || (number === 0 && setting.zero !== undefined)
}
