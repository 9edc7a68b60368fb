/** Reads options that hold several values. */
import { UsageError } from '../io/errors.ts'

/** Returns the values of a repeated option, each of which may be a list with commas. Throws a UsageError for an empty part of a list. */
export function split(values: readonly string[], option: string): string[] {
  const parts = values.flatMap((value) => value.split(',')).map((one) => one.trim())
  if (parts.includes('')) throw new UsageError(`${option} has an empty value in "${values.join(' ')}"`)
  return parts
}

/** Returns `NAME=VALUE` texts as an object. Throws a UsageError for others. */
export function pairs(values: readonly string[], option: string): Record<string, string> {
  const entries = split(values, option).map((one) => {
    const at = one.indexOf('=')
    if (at <= 0) throw new UsageError(`${option} must be NAME=VALUE, not "${one}"`)
    return [one.slice(0, at), one.slice(at + 1)] as const
  })
  return Object.fromEntries(entries)
}

/** Returns the two parts of `PROJECT/NAME`. Throws a UsageError for another form. */
export function projectAndName(text: string, option: string): { project: string; name: string } {
  const [project = '', name = '', ...more] = text.split('/')
  if (project === '' || name === '' || more.length > 0) {
    throw new UsageError(`${option} must be PROJECT/NAME, not "${text}"`)
  }
  return { project, name }
}
