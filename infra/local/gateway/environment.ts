/** Sets the environment of the functions, which share one process here. */
import { BASE_PATH } from '../../../lib/clusters/deployment.ts'
import { parameterOf, variableOf } from '../../settings/setting.ts'
import { groups } from '../../settings/table.ts'
import type { ParameterValues } from '../../settings/values.ts'

type Variables = Readonly<Record<string, string>>

/** The settings that functions read, by name. */
export const functionSettings = groups
  .filter(({ functions }) => functions !== undefined)
  .flatMap(({ settings }) => Object.entries(settings))

/** The variables of a deployment with the default settings, besides those that name its address and its resources. */
export const defaultEnvironment: Variables = {
  STAGE: 'dev',
  BASE_PATH,
  RELEASE: 'local',
  EVENT_BUS: 'default',
  ...Object.fromEntries(functionSettings.map(([name, setting]) => [variableOf(name), String(setting.default ?? '')])),
}

/** Returns the variables of functions that these parameters set. */
export const variablesOf = (parameters: ParameterValues): Variables =>
  Object.fromEntries(
    functionSettings.flatMap(([name]) => {
      const value = parameters[parameterOf(name)]
      return value === undefined ? [] : [[variableOf(name), value]]
    }),
  )

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
