/** Serves a small deployment for tests: one function per route, with bundles in a temporary folder. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { DeployedFunction } from '../../../infra/functions.ts'
import { type Deployment, deploymentOf, type FunctionDescription } from '../../../infra/local/gateway/deployment.ts'
import { type Gateway, type GatewayOptions, startGateway } from '../../../infra/local/gateway/gateway.ts'
import type { Method } from '../../../infra/routes.ts'

export interface FunctionFixture extends Partial<Pick<DeployedFunction, 'streams' | 'every' | 'stream'>> {
  /** Source of an ES module that exports `handler`. */
  source: string
  /** `GET /a/{name}` */
  routes?: readonly string[]
  public?: boolean
  timeout?: number
  /** Reserved concurrency. */
  concurrency?: number
  integrationTimeout?: number
}

type Fixtures = Readonly<Record<string, FunctionFixture>>

type Customized = Parameters<typeof deploymentOf>[1]

/** The function `authorizer`, if present, protects all routes that are not public. */
function describe(fixtures: Fixtures, customized: Customized): Deployment {
  const { api, functions, routes, ...rest } = deploymentOf(
    Object.entries(fixtures).map(([path, { routes = [], timeout = 10, public: open, streams, stream, every }]) => ({
      ...(streams && { streams }),
      ...(stream && { stream }),
      ...(every && { every }),
      path,
      id: path,
      name: path,
      megabytes: 512,
      seconds: timeout,
      routes: routes.map((route) => {
        const [method, path = ''] = route.split(' ')
        return { method: method as Method, path, ...(open && { open }) }
      }),
    })),
    customized,
  )
  const limited = ([id, one]: [string, FunctionDescription]) => {
    const { concurrency } = fixtures[id] ?? {}
    return [id, { ...one, ...(concurrency !== undefined && { concurrency }) }] as const
  }
  return {
    ...rest,
    api: { ...api, minimumCompressionSize: 1000 },
    functions: new Map([...functions].map(limited)),
    routes: routes.map((route) => ({
      ...route,
      timeoutMilliseconds: fixtures[route.functionId]?.integrationTimeout ?? route.timeoutMilliseconds,
    })),
  }
}

export interface Started extends Gateway {
  /** Failures that the gateway reported. */
  reports: string[]
  bundlesDir: string
  deployment: Deployment
}

/** Writes bundles to a temporary folder and serves them; `close` removes it. */
export async function serve(
  fixtures: Fixtures,
  { responses, throttle, ...options }: Customized & Partial<GatewayOptions> = {},
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-gateway-'))
  const deployment = describe(fixtures, { ...(responses && { responses }), ...(throttle && { throttle }) })
  for (const [name, { source }] of Object.entries(fixtures)) {
    const file = join(folder, 'functions', `${name}.mjs`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, source)
  }
  const reports: string[] = []
  const gateway = await startGateway({
    deployment,
    bundlesDir: folder,
    report: (message, cause) => reports.push(`${message}: ${rootCause(cause)}`),
    ...options,
  })
  return {
    ...gateway,
    reports,
    deployment,
    bundlesDir: folder,
    async close(grace) {
      await gateway.close(grace)
      await rm(folder, { recursive: true })
    },
  }
}

const rootCause = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : String(error)
