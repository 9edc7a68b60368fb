/** The stage of the API: throttling, access log and execution log. */
import { functions } from '../functions.ts'
import { gatewayLogRole, logGroup } from './account.ts'
import { deploymentId } from './api.ts'
import { arn, att, either, type Part, ref, sub, type Value } from './intrinsics.ts'
import { url } from './lambda.ts'

interface Limits {
  rate: Value
  burst: Value
}

export const limitsOfAll: Limits = { rate: ref('ThrottleRate'), burst: ref('ThrottleBurst') }

/** Of public endpoints, whose load does not use up what the others may have, of lookups, and of the reviews of clusters. */
const limits: Readonly<Record<string, Limits>> = {
  exchanges: { rate: ref('ExchangeThrottleRate'), burst: ref('ExchangeThrottleBurst') },
  // Clusters take a refused review for an outage.
  reviews: limitsOfAll,
  // Scanners report few credentials, and people look up the values that they have found one by one.
  reports: { rate: 5, burst: 20 },
  // Four answers show the console to somebody for the first time.
  pages: { rate: 50, burst: 200 },
}

/** The routes with limits of their own. */
export const throttles = functions.flatMap(({ throttle, routes }) =>
  routes.flatMap(({ method, path }) =>
    throttle === undefined || method === 'ANY' ? [] : [{ method, path, ...(limits[throttle] as Limits) }],
  ),
)

const settings = (HttpMethod: string, ResourcePath: string, { rate, burst }: Limits) => ({
  HttpMethod,
  ResourcePath,
  ThrottlingRateLimit: rate,
  ThrottlingBurstLimit: burst,
  // Log only errors of API Gateway. Data traces would contain bearer tokens and bodies.
  LoggingLevel: 'ERROR',
  DataTraceEnabled: false,
  MetricsEnabled: false,
  CachingEnabled: false,
})

/** One JSON object per request. It contains the route, but never the path, headers or bodies, which hold client input. */
const accessLogFormat = `{${Object.entries({
  requestId: '"$context.requestId"',
  time: '"$context.requestTime"',
  ip: '"$context.identity.sourceIp"',
  method: '"$context.httpMethod"',
  resource: '"$context.resourcePath"',
  status: '$context.status',
  error: '"$context.error.responseType"',
  bytes: '"$context.responseLength"',
  latencyMs: '"$context.responseLatency"',
  authorizerMs: '"$context.authorizer.latency"',
  integrationMs: '"$context.integration.latency"',
  integrationStatus: '"$context.integration.status"',
})
  .map(([name, value]) => `"${name}":${value}`)
  .join()}}`

export const stage: Part = {
  Resources: {
    ApiStage: {
      Type: 'AWS::ApiGateway::Stage',
      DependsOn: ['ExecutionLog'],
      Properties: {
        RestApiId: ref('Api'),
        StageName: ref('Stage'),
        DeploymentId: ref(deploymentId),
        // The reference makes the stage wait for the role, if the deployment sets it.
        Description: either(
          'SetsGatewayLogRole',
          sub(`Logs as set by \${GatewayAccount}`),
          'Logs as set in the account',
        ),
        TracingEnabled: either('IsTraced', true, false),
        AccessLogSetting: { DestinationArn: arn('logs', `log-group:\${AccessLog}`), Format: accessLogFormat },
        MethodSettings: [
          settings('*', '/*', limitsOfAll),
          // In these paths, ~1 is a slash.
          ...throttles.map(({ method, path, ...own }) => settings(method, `/${path.replaceAll('/', '~1')}`, own)),
        ],
      },
    },
    AccessLog: logGroup(sub(`/keyplane/\${Stage}/access`)),
    // Otherwise API Gateway creates this group with unlimited retention.
    ExecutionLog: logGroup(sub(`API-Gateway-Execution-Logs_\${Api}/\${Stage}`)),
    // Sets the role with which API Gateway writes the logs of all APIs in the account and region. Other stacks may depend on it when
    // this stack is removed, so both resources are retained. In an account without any API, the setting can be made only after the API.
    // Source: AWS::ApiGateway::Account.
    GatewayAccount: {
      Type: 'AWS::ApiGateway::Account',
      Condition: 'SetsGatewayLogRole',
      DependsOn: ['Api'],
      DeletionPolicy: 'Retain',
      UpdateReplacePolicy: 'Retain',
      Properties: { CloudWatchRoleArn: att('GatewayLogRole', 'Arn') },
    },
    GatewayLogRole: gatewayLogRole,
  },
  Outputs: { Url: { Description: 'The API, for kubectl and other clients', Value: url } },
}
