/**
 * Validates environment variables of a function when it starts. An empty or invalid prefix would widen scopes, and a wrong path
 * or URL would appear only in responses.
 */

export type Environment = Readonly<Record<string, string | undefined>>

export interface Form {
  accepts(value: string): boolean
  /** Description of valid values, for the error message. */
  form: string
}

export const matching = (pattern: RegExp, form: string): Form => ({ accepts: (value) => pattern.test(value), form })

/** Throws if the variable has an invalid value. The error omits the value, which may be a secret under the wrong name. */
export function checkVariable(environment: Environment, name: string, { accepts, form }: Form): void {
  const value = environment[name]
  if (value !== undefined && !accepts(value)) throw new Error(`environment variable ${name} must be ${form}`)
}

export function requiredText(environment: Environment, name: string): string {
  const value = environment[name]
  if (!value) throw new Error(`environment variable ${name} is not set`)
  return value
}
