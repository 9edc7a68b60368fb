/** Serves a deployment in one process, in place of API Gateway, Lambda and EventBridge. */
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type ReservedPort, reservePort, WITHOUT_IPV6 } from '../host/freeport.ts'
import { type Deployment, deployed } from './deployment.ts'
import { applyEnvironment, defaultEnvironment } from './environment.ts'
import { scheduledEvent } from './events.ts'
import { createLambda } from './lambda.ts'
import { createListener } from './listener.ts'
import type { Answered } from './requestlines.ts'
import { type Address, prefixOf } from './routes.ts'
import { startTimers } from './schedule.ts'
import { answerUnreadable, refusePlainHttp } from './unreadable.ts'

export interface GatewayOptions {
  /** By default that of the table of functions, without limits of requests. */
  deployment?: Deployment | undefined
  /** Folder in which the handler `functions/X.handler` is the file `functions/X.mjs`. */
  bundlesDir: string
  /** Resolves when the file of a module is complete; by default at once. */
  bundled?: ((module: string) => Promise<void>) | undefined
  /** PEM. Without it the gateway serves plain HTTP, over which kubectl sends no token. */
  tls?: { cert: string; key: string }
  /** The port on 127.0.0.1 and, if the machine has it, on ::1. By default a free one. The gateway releases it. */
  port?: ReservedPort
  /** Variables besides the default settings: the address, resources, endpoints and credentials. */
  environment?: Readonly<Record<string, string>>
  /**
   * How clients reach the API; by default by a custom domain without a base path. Everything outside a stage is
   * 403 Forbidden, as on a host of execute-api.
   */
  address?: Address
  /**
   * Interval of the functions that read a stream in AWS; here they run with a scheduled event instead. Default 1, so that
   * changes take effect within seconds, or the longer time for which Lambda collects records. Other schedules keep their
   * rate.
   */
  streamSeconds?: number
  /** Resolves when the limits of requests begin to apply; by default at once. */
  limitedFrom?: Promise<void>
  /** Runs no functions on schedules or for streams. */
  unscheduled?: boolean
  /** Set if other servers have the same host, on other ports: responses then omit Strict-Transport-Security, which binds all ports. */
  sharesHost?: boolean
  /** Called for failures that the client does not see. */
  report?: (message: string, cause: unknown) => void
  /** Called for every request when its response starts. */
  answered?: ((answered: Answered) => void) | undefined
}

export interface Gateway {
  /** `https://127.0.0.1:8443`, or `https://127.0.0.1:8443/STAGE`, without the base path. */
  url: string
  /**
   * Refuses new requests, stops the schedules and waits for running functions. Ends open streams cleanly after `graceSeconds`,
   * and abandons functions that are still running after the same time again.
   */
  close(graceSeconds?: number): Promise<void>
}

/** Resolves when the gateway serves requests. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { report = warn, address = { mapping: '' } } = options
  const deployment = deployedAs(options.deployment ?? deployed, {
    address,
    sharesHost: options.sharesHost === true,
  })
  const restoreEnvironment = applyEnvironment({ ...defaultEnvironment, ...options.environment })
  const lambda = createLambda(deployment, options.bundlesDir, options.bundled)
  const { listener, running, endStreams } = createListener(deployment, lambda, {
    address,
    report,
    answered: options.answered,
    limitedFrom: options.limitedFrom,
  })
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener)
  answerUnreadable(server)
  const dropSilent = server instanceof TlsServer ? refusePlainHttp(server) : () => {}
  const server6 = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket))
  // A proxy in front may keep connections for a minute, and the server must not be the first to close them.
  server.keepAliveTimeout = 75_000
  // Every request needs its authorizer.
  const authorizers = new Set(deployment.routes.flatMap(({ authorizerFunctionId: id }) => (id ? [id] : [])))
  try {
    await Promise.all([...authorizers].map((id) => lambda.warm(id)))
    const { port, release } = options.port ?? (await reservePort())
    release()
    await listen(server, port, '127.0.0.1')
    await listen6(server6, port)
  } catch (error) {
    server.close()
    restoreEnvironment()
    throw error
  }

  const timerOf = ({ functionId, seconds }: Deployment['schedules'][number]) => ({
    seconds,
    fire: async () => {
      const event = scheduledEvent(functionId, deployment)
      await lambda.invoke(functionId, event).catch((error) => report(`schedule of ${functionId} failed`, error))
    },
  })
  const { streamSeconds } = options
  const streams = deployment.streams.map(({ windowSeconds, ...stream }) => ({
    ...stream,
    seconds: streamSeconds ?? Math.max(1, windowSeconds),
  }))
  const timers = startTimers(options.unscheduled ? [] : [...deployment.schedules, ...streams].map(timerOf))

  return {
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${portOf(server)}${prefixOf(address)}`,
    async close(graceSeconds = 1) {
      const grace = graceSeconds * 1000
      const closed = [server, server6].map((one) => new Promise((resolve) => one.close(resolve)))
      dropSilent()
      // Connections that were busy before are idle now.
      const idle = setInterval(() => server.closeIdleConnections(), 20)
      const late = setTimeout(endStreams, grace)
      await Promise.all([...closed, timers.stop()])
      clearTimeout(late)
      clearInterval(idle)
      const waiting = new AbortController()
      await Promise.race([
        Promise.allSettled(running),
        delay(grace, undefined, { signal: waiting.signal }).catch(() => undefined),
      ])
      waiting.abort()
      restoreEnvironment()
    },
  }
}

/** Returns the deployment as these options serve it. */
function deployedAs(
  { api, ...deployment }: Deployment,
  { address, sharesHost }: { address: Address; sharesHost: boolean },
): Deployment {
  const { stage = api.stage } = 'stage' in address ? address : {}
  return { ...deployment, api: { ...api, stage, sharesHost } }
}

const warn = (message: string, cause: unknown) =>
  process.emitWarning(cause instanceof Error ? cause : String(cause), message)

const portOf = (server: Server): number => (server.address() as AddressInfo).port

const listen = (server: TcpServer, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })

/** Listens on ::1 too, so that clients have addresses of both families. Does nothing on a machine without IPv6. */
const listen6 = (server: TcpServer, port: number) =>
  listen(server, port, '::1').catch((error: NodeJS.ErrnoException) => {
    if (!WITHOUT_IPV6.includes(error.code)) throw error
  })
