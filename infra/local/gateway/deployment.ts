/** What the gateway serves: functions, routes, responses, limits, schedules and streams, from the table of functions. */
import { type DeployedFunction, functions } from '../../functions.ts'
import { parameters } from '../../settings/parameters.ts'
import type { ParameterValues } from '../../settings/values.ts'
import { binaryMediaTypes, minimumCompressionSize, timeoutOf } from '../../stack/api.ts'
import { secondsOf, windowOf } from '../../stack/events.ts'
import type { Value } from '../../stack/intrinsics.ts'
import { responses } from '../../stack/responses.ts'
import { limitsOfAll, throttles } from '../../stack/stage.ts'
import type { GatewayResponses } from './responses.ts'
import type { Route } from './routes.ts'
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
    /** Limits of methods that have their own, by method and path: `POST /a/b`. */
    methodThrottles: ReadonlyMap<string, Limits>
    binaryMediaTypes: readonly string[]
    /** Minimum size in bytes of compressed responses. */
    minimumCompressionSize: number
  }
  /** By ID. */
  functions: ReadonlyMap<string, FunctionDescription>
  routes: readonly Route[]
  /** Responses that API Gateway generates itself, by type, such as `UNAUTHORIZED`. */
  responses: GatewayResponses
  schedules: readonly { functionId: string; seconds: number }[]
  /** The functions that read a stream or are woken, and for how many seconds at most Lambda collects records for them. */
  streams: readonly { functionId: string; windowSeconds: number }[]
}

export interface FunctionDescription {
  id: string
  name: string
  /** Module of the handler, such as `functions/ownedaccesskeys/create`. */
  module: string
  timeoutSeconds: number
  memoryMegabytes: number
  /** Reserved concurrency: Lambda throttles further invocations. */
  concurrency?: number
}

/** API Gateway's default. */
const defaultTimeout = 29_000

/** Returns the deployment of functions. Throws for a route that needs an authorizer which is not among them. */
export function deploymentOf(
  all: readonly DeployedFunction[],
  {
    responses = {},
    throttle,
    methodThrottles = new Map(),
  }: Partial<Pick<Deployment, 'responses'>> & Partial<Pick<Deployment['api'], 'throttle' | 'methodThrottles'>> = {},
): Deployment {
  const authorizer = all.find(({ path }) => path === 'authorizer')
  return {
    api: {
      id: 'local',
      stage: 'dev',
      region: 'eu-central-1',
      account: '000000000000',
      binaryMediaTypes,
      minimumCompressionSize,
      methodThrottles,
      ...(throttle && { throttle }),
    },
    functions: new Map(all.map((one) => [one.id, describe(one)])),
    routes: all.flatMap((one) =>
      one.routes.map(({ method, path, open }) => {
        if (!open && authorizer === undefined) throw new TypeError(`${method} ${path} needs an authorizer`)
        return {
          resource: path,
          method,
          functionId: one.id,
          streaming: one.streams === true,
          timeoutMilliseconds: timeoutOf(one) ?? defaultTimeout,
          ...(!open && authorizer && { authorizerFunctionId: authorizer.id }),
        }
      }),
    ),
    responses,
    schedules: all.flatMap(({ id, every }) => (every ? [{ functionId: id, seconds: secondsOf[every] }] : [])),
    streams: all.flatMap(({ id, stream, isWoken }) => {
      if (isWoken) return [{ functionId: id, windowSeconds: 0 }]
      return stream ? [{ functionId: id, windowSeconds: windowOf(stream) }] : []
    }),
  }
}

const describe = ({ id, name, path, seconds, megabytes }: DeployedFunction): FunctionDescription => ({
  id,
  name: `keyplane-dev-${name}`,
  module: `functions/${path}`,
  timeoutSeconds: seconds,
  memoryMegabytes: megabytes,
})

/** Returns the name of the parameter that has the value, or undefined for a number of the stack. */
const parameterIn = (value: Value): string | undefined => (value as { Ref?: string }).Ref

/**
 * Returns the deployment with the limits of requests that these parameters set. ThrottleRate or ThrottleBurst sets all limits of a deployed
 * stage, whose others have their defaults. Another parameter sets only its own.
 */
export function deployedWith(given: ParameterValues): Deployment {
  type StageLimits = Pick<(typeof throttles)[number], 'rate' | 'burst'>
  const isGiven = ({ rate, burst }: StageLimits) =>
    [rate, burst].some((value) => given[parameterIn(value) ?? ''] !== undefined)
  const numberOf = (value: Value) => {
    const name = parameterIn(value)
    return Number(name === undefined ? value : (given[name] ?? parameters[name]?.Default))
  }
  const limitsOf = ({ rate, burst }: StageLimits): Limits => ({ rate: numberOf(rate), burst: numberOf(burst) })
  const isStage = isGiven(limitsOfAll)
  const ofMethods = throttles.filter((one) => isStage || isGiven(one))
  return deploymentOf(functions, {
    responses,
    ...(isStage && { throttle: limitsOf(limitsOfAll) }),
    methodThrottles: new Map(ofMethods.map((one) => [`${one.method} ${one.path}`, limitsOf(one)])),
  })
}

/** A deployment with the default settings, without limits of requests. */
export const deployed: Deployment = deployedWith({})
