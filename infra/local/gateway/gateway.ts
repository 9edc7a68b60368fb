/** API Gateway, Lambda and EventBridge of a packaged deployment in one process: serves what would be deployed. */
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer, Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { applyEnvironment, unionOfEnvironments } from './environment.ts'
import { scheduledEvent } from './events.ts'
import { createLambda } from './lambda.ts'
import { createListener } from './listener.ts'
import type { Answered } from './requestlines.ts'
import { startTimers } from './schedule.ts'
import { type Deployment, readTemplate } from './template.ts'
import { answerUnreadable, refusePlainHttp } from './unreadable.ts'

export interface GatewayOptions {
  /** Path of cloudformation-template-update-stack.json. */
  template: string
  /** Folder in which `functions/X.handler` is `functions/X.mjs`. */
  bundlesDir: string
  /** PEM; plain HTTP without it, over which kubectl sends no token. */
  tls?: { cert: string; key: string }
  host?: string
  /** 0 or absent: a free one. */
  port?: number
  /** Physical ids by logical id, attributes by `LOGICALID.ATTRIBUTE`. */
  refs?: Readonly<Record<string, string>>
  /** Variables over those of the template: endpoints, credentials, ISSUER. */
  environment?: Readonly<Record<string, string>>
  region?: string
  account?: string
  /**
   * There is no stream here: functions that read one are run with a scheduled event instead, so often. Default 1, so that
   * what follows from a change follows within seconds; other schedules keep the rate of the template.
   */
  streamSeconds?: number
  /** Without the throttling of the stage: where it is this machine that is measured. */
  unthrottled?: boolean
  /** Failures that the client is not told about. */
  report?: (message: string, cause: unknown) => void
  /** Every request, when its answer has begun. */
  answered?: ((answered: Answered) => void) | undefined
}

export interface Gateway {
  /** `https://127.0.0.1:8443`, without the base path. */
  url: string
  /**
   * Takes no new requests, stops the schedules and lets what runs finish. After `graceSeconds` open streams are ended,
   * cleanly for their clients; functions that do not heed it are left behind after as long again.
   */
  close(graceSeconds?: number): Promise<void>
}

/** Resolves when requests are served. Throws for a template that cannot be served faithfully. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', region = 'eu-central-1', account = '000000000000', report = warn } = options
  const refs = { ApiGatewayRestApi: 'local', ...options.refs }
  const environment = options.environment ?? {}
  const deployment = readTemplate(await readFile(options.template, 'utf8'), { refs, region, account, environment })
  const restoreEnvironment = applyEnvironment(unionOfEnvironments(deployment.functions.values(), environment))
  const lambda = createLambda(deployment, options.bundlesDir)
  const { listener, running, endStreams } = createListener(
    options.unthrottled ? unthrottled(deployment) : deployment,
    lambda,
    report,
    options.answered,
  )
  const server = options.tls ? createTlsServer(options.tls, listener) : createServer(listener)
  answerUnreadable(server)
  const dropSilent = server instanceof TlsServer ? refusePlainHttp(server) : () => {}
  // A proxy in front may hold connections for a minute; the side that answers must not be the first to let go.
  server.keepAliveTimeout = 75_000
  // Every request needs its authorizer.
  const authorizers = new Set(deployment.routes.flatMap(({ authorizerFunctionId: id }) => (id ? [id] : [])))
  try {
    await Promise.all([...authorizers].map((id) => lambda.warm(id)))
    await listen(server, options.port ?? 0, host)
  } catch (error) {
    restoreEnvironment()
    throw error
  }

  const timerOf = ({ functionId, name, seconds, input }: Deployment['schedules'][number]) => ({
    seconds,
    fire: async () => {
      const event: unknown = input === undefined ? scheduledEvent(name, deployment) : JSON.parse(input)
      await lambda.invoke(functionId, event).catch((error) => report(`schedule ${name} failed`, error))
    },
  })
  const streams = deployment.streams.map((stream) => ({ ...stream, seconds: options.streamSeconds ?? 1 }))
  const timers = startTimers([...deployment.schedules, ...streams].map(timerOf))

  const { port } = server.address() as AddressInfo
  return {
    url: `${options.tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    async close(graceSeconds = 1) {
      const grace = graceSeconds * 1000
      const closed = new Promise((resolve) => server.close(resolve))
      dropSilent()
      // A connection that was busy a moment ago is only now idle.
      const idle = setInterval(() => server.closeIdleConnections(), 20)
      const late = setTimeout(endStreams, grace)
      await Promise.all([closed, timers.stop()])
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

function unthrottled({ api: { throttle: _, ...api }, ...deployment }: Deployment): Deployment {
  return { ...deployment, api }
}

const warn = (message: string, cause: unknown) =>
  process.emitWarning(cause instanceof Error ? cause : String(cause), message)

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve)
  })
