/** The dashboard: requests, rejections, functions, the table, the controllers, exchanges, and events. */
import { type Part, sub } from './intrinsics.ts'

/** A row of `metrics`: `.` repeats the value above, `...` all of them except the last ones. */
type Line = readonly (string | Readonly<Record<string, string | number>>)[]

interface Graph {
  title: string
  metrics: readonly Line[]
  period?: number
  stat?: 'Sum' | 'Maximum'
}

/** A query of CloudWatch Logs Insights. */
interface Query {
  title: string
  query: string
  view: 'table'
}

const own = `keyplane/\${Stage}`
const ofStage = ['ApiName', `\${Stage}-keyplane`, 'Stage', `\${Stage}`]
const authorizer = ['FunctionName', `\${AuthorizerLambdaFunction}`]
const sum = (period: number) => ({ stat: 'Sum', period }) as const
const atRight = { yAxis: 'right' }
/** Asks the access log, which is one log group: a widget can name 50 at most, and there are more functions. */
const ask = (title: string, ...commands: string[]): Query => ({
  title,
  query: [`SOURCE '\${AccessLog}'`, ...commands, 'limit 20'].join(' | '),
  view: 'table',
})
const messages = (queue: string) => [
  'AWS/SQS',
  'ApproximateNumberOfMessagesVisible',
  'QueueName',
  `\${${queue}.QueueName}`,
]

const reported = (...names: string[]): Line[] => names.map((name, index) => [index === 0 ? own : '.', name])
const results = (metric: string, dimension: string, first: string, ...others: string[]): Line[] => [
  [own, metric, dimension, first],
  ...others.map((one) => ['...', one]),
]

/** The rows of the dashboard, with the widths of their widgets. */
// biome-ignore format: a table
const rows: readonly (readonly [width: number, ...(Graph | Query)[]])[] = [
  [
    8,
    { title: 'Requests', ...sum(60), metrics: [
      ['AWS/ApiGateway', 'Count', ...ofStage], ['.', '4XXError', '.', '.', '.', '.'], ['.', '5XXError', '.', '.', '.', '.'], [own, 'throttled'],
    ] },
    { title: 'Latency of responses that are not streamed (ms)', period: 60, metrics: [
      ['AWS/ApiGateway', 'Latency', ...ofStage, { stat: 'p50' }], ['...', { stat: 'p99' }],
      ['AWS/Lambda', 'Duration', ...authorizer, { stat: 'p99', label: 'authorizer p99' }],
    ] },
    { title: 'Decisions of the authorizer', ...sum(60), metrics: [
      ...results('authorizations', 'authorization', 'allowed', 'denied', 'unknown', 'dead', 'malformed'), [own, 'authorizerFailed'],
    ] },
  ],
  [
    12,
    { title: 'Server errors, and errors of virtual clusters', ...sum(300), metrics: reported('serverErrors', 'virtualClusterErrors') },
    ask('Responses of 500 and above by route', 'filter status >= 500', 'stats count(*) as responses by method, resource, status, error', 'sort responses desc'),
  ],
  [
    24,
    ask('Latency by route (ms). Watches and streamed lists count until they end', 'stats count(*) as requests, pct(latencyMs, 50) as p50, pct(latencyMs, 99) as p99 by method, resource', 'sort p99 desc'),
  ],
  [
    8,
    { title: 'All functions of the account: errors (including one per unknown key), throttles, concurrency', ...sum(300), metrics: [
      ['AWS/Lambda', 'Errors'], ['.', 'Throttles'], ['.', 'ConcurrentExecutions', { stat: 'Maximum' }],
      ['AWS/Lambda', 'Throttles', ...authorizer, { label: 'Throttles of the authorizer' }],
    ] },
    { title: 'Table', ...sum(60), metrics: [
      ['AWS/DynamoDB', 'ConsumedReadCapacityUnits', 'TableName', `\${Table}`],
      ...['ConsumedWriteCapacityUnits', 'ReadThrottleEvents', 'WriteThrottleEvents', 'TransactionConflict'].map((name) => ['.', name, '.', '.']),
      ['.', 'WriteThrottleEvents', '.', '.', 'GlobalSecondaryIndexName', 'expiry', { label: 'WriteThrottleEvents of the index' }],
    ] },
    { title: 'Calls to AWS services', ...sum(60), metrics: reported('storageCalls', 'kmsCalls', 'secretCalls') },
  ],
  [
    8,
    { title: 'Sweep of expired keys', ...sum(3600), metrics: reported('sweepSeen', 'sweepDeleted', 'sweepFailed') },
    { title: 'Garbage collection', ...sum(300), metrics: reported('collectionTasks', 'collectionDeleted', 'collectionFailed') },
    { title: 'Age of changes at the collector (ms)', stat: 'Maximum', period: 300, metrics: [
      ['AWS/Lambda', 'IteratorAge', 'FunctionName', `\${GarbagecollectorLambdaFunction}`],
      [...messages('UncollectedChanges'), { label: 'given up (number)', ...atRight }],
    ] },
  ],
  [
    12,
    { title: 'Exchanges of ID tokens', ...sum(300), metrics: results('exchanges', 'exchange', 'granted', 'refused', 'replayed', 'unproven', 'malformed', 'unavailable') },
    { title: 'Keys of issuers', ...sum(300), metrics: [
      ...reported('issuerFetches', 'issuerFetchFailures'),
      ['.', 'staleKeys', { stat: 'Maximum', label: 'age of keys that could not be renewed (s)', ...atRight }],
    ] },
  ],
  [
    12,
    { title: 'Events about access keys', ...sum(300), metrics: [
      [own, 'eventsPublished'], ['.', 'eventsFailed', { label: 'failed runs' }], ['.', 'eventsLost'],
      [...messages('FailedWakes'), { label: 'failed wakes (number)', stat: 'Maximum', ...atRight }],
    ] },
  ],
]

const height = 6
const widgets = rows.flatMap(([width, ...row], line) =>
  row.map((widget, index) => ({
    type: 'query' in widget ? 'log' : 'metric',
    x: index * width,
    y: line * height,
    width,
    height,
    properties: { region: `\${AWS::Region}`, ...widget },
  })),
)

export const dashboard: Part = {
  Resources: {
    Dashboard: {
      Type: 'AWS::CloudWatch::Dashboard',
      Properties: {
        DashboardName: sub(`keyplane-\${Stage}`),
        DashboardBody: sub(JSON.stringify({ start: '-PT6H', widgets })),
      },
    },
  },
}
