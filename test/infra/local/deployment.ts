/** Serves a small deployment for tests: a template with one function per route, and bundles in a temporary folder. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Gateway, type GatewayOptions, startGateway } from '../../../infra/local/gateway/gateway.ts'

export interface FunctionFixture {
  /** Source of an ES module that exports `handler`. */
  source: string
  /** `GET /a/{name}` */
  routes?: readonly string[]
  public?: boolean
  streaming?: boolean
  timeout?: number
  /** Reserved concurrency. */
  concurrency?: number
  integrationTimeout?: number
  environment?: Record<string, unknown>
  schedule?: string
  readsStream?: boolean
  /** For how many seconds Lambda collects records of the stream. */
  window?: number
}

type Fixtures = Readonly<Record<string, FunctionFixture>>

/** The function `authorizer`, if present, protects all routes that are not public. */
export function templateOf(functions: Fixtures, responses: Record<string, object> = {}, stage: object = {}): string {
  const paths: Record<string, Record<string, object>> = {}
  const authorizer = { type: 'request', authorizerResultTtlInSeconds: 0, authorizerUri: uri('authorizer') }
  const resources: Record<string, object> = {
    Api: {
      Type: 'AWS::ApiGateway::RestApi',
      Properties: {
        Body: {
          paths,
          components: {
            securitySchemes: {
              ...('authorizer' in functions && { authorizer: { 'x-amazon-apigateway-authorizer': authorizer } }),
            },
          },
          'x-amazon-apigateway-gateway-responses': responses,
          'x-amazon-apigateway-binary-media-types': ['application/octet-stream'],
          'x-amazon-apigateway-minimum-compression-size': 1000,
        },
      },
    },
    Stage: { Type: 'AWS::ApiGateway::Stage', Properties: { StageName: 'dev', ...stage } },
  }
  for (const [name, fixture] of Object.entries(functions)) {
    resources[name] = {
      Type: 'AWS::Lambda::Function',
      Properties: {
        FunctionName: `test-${name}`,
        Handler: `functions/${name}.handler`,
        Timeout: fixture.timeout ?? 10,
        MemorySize: 512,
        ...(fixture.concurrency !== undefined && { ReservedConcurrentExecutions: fixture.concurrency }),
        Environment: { Variables: fixture.environment ?? {} },
      },
    }
    for (const route of fixture.routes ?? []) {
      const [method = '', path = ''] = route.split(' ')
      paths[path] = {
        ...paths[path],
        [method === 'ANY' ? 'x-amazon-apigateway-any-method' : method.toLowerCase()]: {
          ...(!fixture.public && { security: [{ authorizer: [] }] }),
          'x-amazon-apigateway-integration': {
            type: 'aws_proxy',
            uri: uri(name),
            ...(fixture.streaming && { responseTransferMode: 'STREAM' }),
            ...(fixture.integrationTimeout && { timeoutInMillis: fixture.integrationTimeout }),
          },
        },
      }
    }
    if (fixture.schedule) {
      resources[`${name}Rule`] = {
        Type: 'AWS::Events::Rule',
        Properties: {
          ScheduleExpression: fixture.schedule,
          State: 'ENABLED',
          Targets: [{ Arn: { 'Fn::GetAtt': [name, 'Arn'] } }],
        },
      }
    }
    if (fixture.readsStream) {
      resources[`${name}Mapping`] = {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: {
          FunctionName: { 'Fn::GetAtt': [name, 'Arn'] },
          ...(fixture.window !== undefined && { MaximumBatchingWindowInSeconds: fixture.window }),
        },
      }
    }
  }
  return JSON.stringify({ Resources: resources })
}

const uri = (name: string) => ({ 'Fn::Sub': `lambda:path/arn:\${AWS::Partition}:function:test-${name}/invocations` })

export interface Started extends Gateway {
  /** Failures that the gateway reported. */
  reports: string[]
  template: string
  bundlesDir: string
}

/** Writes template and bundles to a temporary folder and serves them; `close` removes it. */
export async function serve(
  functions: Fixtures,
  {
    responses = {},
    stage = {},
    ...options
  }: { responses?: Record<string, object>; stage?: object } & Partial<GatewayOptions> = {},
): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'keyplane-gateway-'))
  const template = join(folder, 'template.json')
  await writeFile(template, templateOf(functions, responses, stage))
  for (const [name, { source }] of Object.entries(functions)) {
    const file = join(folder, 'functions', `${name}.mjs`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, source)
  }
  const reports: string[] = []
  const gateway = await startGateway({
    template,
    bundlesDir: folder,
    report: (message, cause) => reports.push(`${message}: ${rootCause(cause)}`),
    ...options,
  })
  return {
    ...gateway,
    reports,
    template,
    bundlesDir: folder,
    async close(grace) {
      await gateway.close(grace)
      await rm(folder, { recursive: true })
    },
  }
}

const rootCause = (error: unknown): string =>
  error instanceof Error && error.cause !== undefined ? rootCause(error.cause) : String(error)
