/** Merges the environments of all functions, which share one process here. */
import type { FunctionDescription } from './template.ts'

type Variables = Readonly<Record<string, string>>

/** Returns the variables of all functions and `more`. Throws when two functions need different values. */
export function unionOfEnvironments(functions: Iterable<FunctionDescription>, more: Variables): Variables {
  const union = new Map<string, { value: string; name: string }>()
  for (const { name, environment } of functions) {
    for (const [variable, value] of Object.entries(environment)) {
      const known = union.get(variable)
      if (known && known.value !== value) {
        throw new TypeError(`${known.name} and ${name} need different values of ${variable}`)
      }
      union.set(variable, { value, name })
    }
  }
  return { ...Object.fromEntries([...union].map(([variable, { value }]) => [variable, value])), ...more }
}

/** Sets the variables in this process and returns a function that restores the previous values. */
export function applyEnvironment(variables: Variables): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, variables)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
