/** Reads a packaged CloudFormation template as the deployment it describes: functions, routes, authorizers, responses, schedules. */

import { type ApiDescription, type OpenApiDocument, readDocument } from './openapi.ts'
import type { Limits } from './throttle.ts'

export interface Deployment {
  api: {
    id: string
    stage: string
    region: string
    account: string
    /** Limit of all methods together; undefined for no limit. */
    throttle?: Limits
    /** Set if other servers have the same host, on other ports. */
    sharesHost?: boolean
    /** Limits of methods that have their own, by method and resource: `POST /a/b`. */
    methodThrottles: ReadonlyMap<string, Limits>
  } & Omit<ApiDescription, 'routes' | 'responses'>
  /** By logical ID. */
  functions: ReadonlyMap<string, FunctionDescription>
  routes: ApiDescription['routes']
  responses: ApiDescription['responses']
  schedules: readonly { functionId: string; name: string; seconds: number; input?: string }[]
  /** Names of the functions that read a stream, and for how many seconds at most Lambda collects records for them. */
  streams: readonly { functionId: string; name: string; windowSeconds: number }[]
}

export interface FunctionDescription {
  id: string
  name: string
  /** Module of the handler, such as `functions/ownedaccesskeys/create` for `functions/ownedaccesskeys/create.handler`. */
  module: string
  /** Export of the handler, such as `handler`. */
  entry: string
  timeoutSeconds: number
  memoryMegabytes: number
  /** Reserved concurrency: Lambda throttles further invocations. */
  concurrency?: number
  environment: Readonly<Record<string, string>>
}

export interface TemplateReferences {
  /** Physical IDs by logical ID (`Ref`), and attributes by `LOGICALID.ATTRIBUTE` (`Fn::GetAtt`). */
  refs: Readonly<Record<string, string>>
  region: string
  account: string
  /** Variables to ignore in the template; their references need not be known. */
  environment?: Readonly<Record<string, string>>
}

interface Resource {
  Type: string
  // Properties of many resource types; each reader below uses those that it knows.
  Properties: Record<string, unknown>
}

/** Throws for unsupported content: an unknown reference, an integration other than a Lambda proxy, a cron schedule. */
export function readTemplate(text: string, references: TemplateReferences): Deployment {
  const resources = new Map(Object.entries((JSON.parse(text) as { Resources: Record<string, Resource> }).Resources))
  const ofType = (type: string) => [...resources].filter(([, resource]) => resource.Type === type)
  const resolve = resolver(references)

  const functions = new Map(
    ofType('AWS::Lambda::Function').map(([id, { Properties }]) => [
      id,
      readFunction(id, Properties, resolve, references.environment ?? {}),
    ]),
  )
  const [api, ...others] = ofType('AWS::ApiGateway::RestApi')
  if (api === undefined || others.length > 0) throw new TypeError('the template must have exactly one RestApi')
  const stage = ofType('AWS::ApiGateway::Stage')[0]?.[1].Properties ?? {}
  const idsByName = new Map([...functions.values()].map(({ id, name }) => [name, id]))
  const invokedBy = (uri: unknown) => {
    const text = resolve(uri)
    const [, name = ''] = /:function:([\w-]+)(?::[\w-]+)?\/(?:response-streaming-)?invocations$/.exec(text) ?? []
    const id = idsByName.get(name)
    if (id === undefined) throw new TypeError(`${text} invokes no function of this template`)
    return id
  }
  const aliases = new Map(
    ofType('AWS::Lambda::Alias').map(([id, { Properties }]) => [id, namedBy(Properties.FunctionName)]),
  )
  const functionOf = (value: unknown) => aliases.get(namedBy(value)) ?? namedBy(value)
  const { routes, responses, ...gateway } = readDocument(api[1].Properties.Body as OpenApiDocument, invokedBy)

  return {
    api: {
      id: resolve({ Ref: api[0] }),
      stage: String(stage.StageName),
      region: references.region,
      account: references.account,
      ...gateway,
      ...throttleOf(stage),
    },
    functions,
    routes,
    responses,
    schedules: ofType('AWS::Events::Rule')
      .filter(([, { Properties }]) => Properties.State !== 'DISABLED')
      .flatMap(([name, { Properties }]) =>
        (Properties.Targets as { Arn: unknown; Input?: string }[]).map(({ Arn, Input }) => ({
          functionId: functionOf(Arn),
          name,
          seconds: rate(String(Properties.ScheduleExpression)),
          ...(Input === undefined ? {} : { input: Input }),
        })),
      ),
    streams: ofType('AWS::Lambda::EventSourceMapping').map(([name, { Properties }]) => ({
      functionId: functionOf(Properties.FunctionName),
      name,
      windowSeconds: Number(Properties.MaximumBatchingWindowInSeconds ?? 0),
    })),
  }
}

function throttleOf({
  MethodSettings = [],
}: {
  MethodSettings?: Record<string, unknown>[]
}): Pick<Deployment['api'], 'throttle' | 'methodThrottles'> {
  const limits = MethodSettings.flatMap(({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => {
    const [rate, burst] = [Number(ThrottlingRateLimit), Number(ThrottlingBurstLimit)]
    // In a resource path, `~1` stands for a slash after the first one.
    const method = `${HttpMethod} ${String(ResourcePath).replaceAll('~1', '/').replace(/^\/+/, '/')}`
    return rate >= 0 && burst >= 0 ? [[method, { rate, burst }] as const] : []
  })
  const byMethod = new Map(limits)
  const throttle = byMethod.get('* /*')
  byMethod.delete('* /*')
  return { methodThrottles: byMethod, ...(throttle && { throttle }) }
}

function readFunction(
  id: string,
  properties: Record<string, unknown>,
  resolve: Resolve,
  given: Readonly<Record<string, string>>,
): FunctionDescription {
  const handler = String(properties.Handler)
  const dot = handler.lastIndexOf('.')
  const variables = (properties.Environment as { Variables?: Record<string, unknown> } | undefined)?.Variables ?? {}
  return {
    id,
    name: resolve(properties.FunctionName),
    module: handler.slice(0, dot),
    entry: handler.slice(dot + 1),
    timeoutSeconds: Number(properties.Timeout),
    memoryMegabytes: Number(properties.MemorySize),
    ...optional('concurrency', properties.ReservedConcurrentExecutions),
    environment: Object.fromEntries(
      Object.entries(variables).map(([name, value]) => [name, given[name] ?? resolve(value)]),
    ),
  }
}

/** Returns the logical ID of the function or alias that a Ref or an ARN refers to. */
function namedBy(value: unknown): string {
  if (Array.isArray(value)) return value.map(namedBy).find(Boolean) ?? ''
  if (typeof value !== 'object' || value === null) return ''
  const { Ref, 'Fn::GetAtt': get } = value as { Ref?: string; 'Fn::GetAtt'?: [string, string] }
  if (Ref !== undefined) return Ref
  return get?.[1] === 'Arn' ? get[0] : (Object.values(value).map(namedBy).find(Boolean) ?? '')
}

/** Returns a numeric property, or undefined. */
const optional = <Name extends string>(name: Name, value: unknown) =>
  (value === undefined ? {} : { [name]: Number(value) }) as { [name in Name]?: number }

type Resolve = (value: unknown) => string

/** Evaluates Ref, Fn::GetAtt, Fn::Join and Fn::Sub. Throws for other intrinsic functions. */
function resolver({ refs, region, account }: TemplateReferences): Resolve {
  const known: Record<string, string> = {
    'AWS::Partition': 'aws',
    'AWS::Region': region,
    'AWS::AccountId': account,
    'AWS::URLSuffix': 'amazonaws.com',
    'Release.Description': 'local',
    ...refs,
  }
  const lookup = (name: string) => {
    const value = Object.hasOwn(known, name) ? known[name] : undefined
    if (value === undefined) throw new TypeError(`the template refers to ${name}, which is unknown`)
    return value
  }
  const resolve: Resolve = (value) => {
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
    const [name, argument] = Object.entries(value as Record<string, unknown>)[0] ?? []
    if (name === 'Ref') return lookup(String(argument))
    if (name === 'Fn::GetAtt') return lookup((argument as string[]).join('.'))
    if (name === 'Fn::Join') {
      const [separator, parts] = argument as [string, unknown[]]
      return parts.map(resolve).join(separator)
    }
    if (name === 'Fn::Sub') {
      const [text, own] = (typeof argument === 'string' ? [argument, {}] : argument) as [
        string,
        Record<string, unknown>,
      ]
      return text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal, variable: string) => {
        if (literal) return `\${${variable}}`
        return Object.hasOwn(own, variable) ? resolve(own[variable]) : lookup(variable)
      })
    }
    throw new TypeError(`the template uses ${name}, which the local gateway does not support`)
  }
  return resolve
}

const unit: Record<string, number> = { minute: 60, hour: 3600, day: 86400 }

/** Returns the seconds of an expression such as `rate(5 minutes)`. */
function rate(expression: string): number {
  const [, count, name] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? []
  const seconds = Number(count) * (unit[name ?? ''] ?? Number.NaN)
  if (!Number.isInteger(seconds)) throw new TypeError(`only rate() schedules are supported, not ${expression}`)
  return seconds
}
