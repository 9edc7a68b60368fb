/** Evaluates a template for given parameters, as far as they go: what remains refers to resources and to the account. */
import type { Parameter } from '../../infra/settings/parameters.ts'
import type { ParameterValues } from '../../infra/settings/values.ts'

interface Conditional {
  Condition?: string
}

export interface Template {
  Parameters?: Readonly<Record<string, Parameter>>
  Conditions?: Readonly<Record<string, unknown>>
  Resources: Readonly<Record<string, Conditional & { DependsOn?: readonly string[] }>>
  Outputs: Readonly<Record<string, Conditional>>
}

/** In place of what the template omits. */
const omitted = Symbol('AWS::NoValue')

/** Returns the resources and the outputs of a deployment with these parameters. Throws for a parameter without a value. */
export function evaluate(template: Template, given: ParameterValues) {
  const values = new Map(Object.entries(template.Parameters ?? {}).map(([name, { Default }]) => [name, Default]))
  for (const [name, value] of Object.entries(given)) values.set(name, value)
  for (const [name, value] of values) if (value === undefined) throw new Error(`the parameter ${name} has no value`)

  const holds = (condition: unknown): boolean => {
    const [name, argument] = only(condition) ?? []
    if (name === 'Condition') return holds(template.Conditions?.[String(argument)])
    const parts = argument as unknown[]
    if (name === 'Fn::Equals') return reduce(parts[0]) === reduce(parts[1])
    if (name === 'Fn::Not') return !holds(parts[0])
    if (name === 'Fn::And') return parts.every(holds)
    if (name === 'Fn::Or') return parts.some(holds)
    throw new TypeError(`a condition uses ${name}`)
  }

  const reduce = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(reduce).filter((one) => one !== omitted)
    if (typeof value !== 'object' || value === null) return value
    const [name, argument] = only(value) ?? []
    if (name === 'Ref' && argument === 'AWS::NoValue') return omitted
    if (name === 'Ref' && values.has(String(argument))) return values.get(String(argument))
    if (name === 'Fn::Sub' && typeof argument === 'string') return substitute(argument)
    if (name === 'Fn::If') {
      const [condition, one, other] = argument as [string, unknown, unknown]
      return reduce(holds({ Condition: condition }) ? one : other)
    }
    const rest = Object.entries(value).map(([key, one]) => [key, reduce(one)] as const)
    return compute(Object.fromEntries(rest.filter(([, one]) => one !== omitted)))
  }

  const substitute = (text: string): unknown => {
    const rest = text.replace(/\$\{(\w+)\}/g, (whole, name: string) => values.get(name) ?? whole)
    return rest.includes(`\${`) ? { 'Fn::Sub': rest } : rest
  }

  const existing = (all: Readonly<Record<string, Conditional>>): Record<string, object> =>
    Object.fromEntries(
      Object.entries(all).flatMap(([id, { Condition, ...rest }]) =>
        Condition === undefined || holds({ Condition }) ? [[id, reduce(rest) as object]] : [],
      ),
    )
  const Resources: Record<string, { DependsOn?: readonly string[] }> = existing(template.Resources)
  // CloudFormation ignores dependencies on what does not exist.
  for (const one of Object.values(Resources))
    if (one.DependsOn) one.DependsOn = [one.DependsOn].flat().filter((id) => id in Resources)
  return { Resources, Outputs: existing(template.Outputs) }
}

/** Returns the entry of an object that has one. */
function only(value: unknown): [string, unknown] | undefined {
  const [first, ...others] = Object.entries(value as object)
  return others.length === 0 ? first : undefined
}

/** Applies a function of texts and lists, unless its arguments refer to a resource. */
function compute(value: object): unknown {
  const [name = '', argument] = only(value) ?? []
  if (!Array.isArray(argument)) return value
  const [first, second] = argument as [string, unknown]
  if (name === 'Fn::Split' && typeof second === 'string') return second.split(first)
  if (name === 'Fn::Select' && Array.isArray(second)) return second[Number(first)]
  if (name === 'Fn::Join' && Array.isArray(second)) {
    if (second.length === 1) return second[0]
    if (second.every((one) => typeof one === 'string')) return second.join(first)
  }
  return value
}
