/** Alarms that operators must look into: the description of each says what it means and what to do. All of them notify one SNS topic: subscribe to it. */
import { functions } from '../functions.ts'
import { customerKey } from './account.ts'
import { att, named, type Part, type Resource, ref, sub, type Value } from './intrinsics.ts'

const own = sub(`keyplane/\${Stage}`)
const minute = 60
const hour = 3600

interface Metric {
  Namespace: Value
  MetricName: string
  Dimensions?: Value
}

/** A metric that functions and filters report. The result is that of an exchange. */
const reported = (MetricName: string, result?: string): Metric => ({
  Namespace: own,
  MetricName,
  ...(result && { Dimensions: [{ Name: 'exchange', Value: result }] }),
})
const messagesIn = (queue: string): Metric => ({
  Namespace: 'AWS/SQS',
  MetricName: 'ApproximateNumberOfMessagesVisible',
  Dimensions: [{ Name: 'QueueName', Value: att(queue, 'QueueName') }],
})
const ofFunction = (id: string, MetricName: string): Metric => ({
  Namespace: 'AWS/Lambda',
  MetricName,
  Dimensions: [{ Name: 'FunctionName', Value: ref(`${id}LambdaFunction`) }],
})
const ofTable = (MetricName: string, ...more: Value[]): Metric => ({
  Namespace: 'AWS/DynamoDB',
  MetricName,
  Dimensions: [{ Name: 'TableName', Value: ref('Table') }, ...more],
})
/** Counts invocations of the schedule alone, where a stream invokes the function too. */
const ofSchedule = (id: string): Metric => ({
  Namespace: 'AWS/Events',
  MetricName: 'Invocations',
  Dimensions: [{ Name: 'RuleName', Value: ref(`${id}EventsRuleSchedule1`) }],
})

/** When an alarm begins: at how many within a period, and in how many of how many periods. */
interface Begins {
  from?: number
  below?: number
  period: number
  periods?: number
  of?: number
  statistic?: 'Maximum'
}

const actions = [ref('AlarmTopic')]

function alarm(name: string, AlarmDescription: string, metric: Metric, begins: Begins): [string, Resource] {
  const { from, below, period, of = 1, periods = of, statistic = 'Sum' } = begins
  const id = name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return [
    `${id}Alarm`,
    {
      Type: 'AWS::CloudWatch::Alarm',
      Properties: {
        AlarmName: named(name),
        AlarmDescription,
        ...metric,
        Statistic: statistic,
        Period: period,
        EvaluationPeriods: of,
        ...(periods !== of && { DatapointsToAlarm: periods }),
        Threshold: from ?? below,
        ComparisonOperator: below === undefined ? 'GreaterThanOrEqualToThreshold' : 'LessThanThreshold',
        TreatMissingData: below === undefined ? 'notBreaching' : 'breaching',
        AlarmActions: actions,
        OKActions: actions,
      },
    },
  ]
}

const fiveMinutes = 5 * minute
const quarter = 15 * minute
const once = { from: 1, period: fiveMinutes } as const
const throttling = { from: 10, period: minute, periods: 2, of: 3 }
const soon = { from: 1, period: minute, periods: 2, of: 5 }

// biome-ignore format: a table
const alarms = [
  // Functions report server errors themselves: in a Kubernetes API some client errors are 500 or 504, and unreachable virtual clusters
  // are 502 to 504. Errors of API Gateway, which include crashes of functions, add to the same metric.
  alarm('server-errors', 'Requests fail because of server errors, not because of clients or virtual clusters. The dashboard has the routes, and audit records with a fault of server the causes. If all routes fail, look for throttling of the table and the functions.', reported('serverErrors'), { from: 5, period: fiveMinutes }),
  alarm('throttled', 'Requests are throttled with 429. If one client loops, the access log has its address. Otherwise raise throttle-rate and the Lambda concurrency of the account.', reported('throttled'), { from: 50, period: fiveMinutes }),
  // The Errors metric of the function is unsuitable: the function must throw for a 401.
  alarm('authorizer-errors', 'Requests are refused because the authorizer failed. Its log has the cause: the table or the pepper. If the log is empty, see authorizer-throttled.', reported('authorizerFailed'), soon),

  // Every request invokes the authorizer first, so it is throttled when the account has no concurrency left. The settings
  // list-concurrency and leak-concurrency may limit others. Lambda does not report the age of the stream while the collector does not run.
  ...functions.flatMap(({ id, throttled }) =>
    throttled === undefined ? [] : [alarm(`${throttled[0]}-throttled`, `Lambda throttles ${throttled[1]} because no concurrency is left: that of the account, or a limit that a setting gives the function. Open watches occupy concurrency until they end. Set quiet-watch-seconds, raise the setting, or request a higher quota.`, ofFunction(id, 'Throttles'), soon)],
  ),

  alarm('table-reads-throttled', 'DynamoDB throttles reads of the table: load grows faster than it scales, or one partition is too hot. Clients retry. If it persists, lower throttle-rate or raise warm-read-units.', ofTable('ReadThrottleEvents'), throttling),
  alarm('table-writes-throttled', 'DynamoDB throttles writes to the table: load grows faster than it scales, or one partition is too hot. Clients retry. If it persists, lower throttle-rate or raise warm-write-units.', ofTable('WriteThrottleEvents'), throttling),
  // A throttled index also throttles writes to the table, and DynamoDB counts them for the index.
  alarm('index-writes-throttled', 'DynamoDB throttles writes to the index of expiring keys, and with them those of the table: too many keys with a ttl are created within a second, or used with ttlAfterLastActivity. Clients retry. If it persists, use a longer ttl.', ofTable('WriteThrottleEvents', { Name: 'GlobalSecondaryIndexName', Value: 'expiry' }), throttling),

  // The controllers: errors, unfinished work, and missing runs.
  alarm('sweep-errors', 'The sweep of expired keys fails; its log has the error. Expired keys grant no access, but stay listed.', ofFunction('Sweep', 'Errors'), { from: 1, period: hour, of: 2 }),
  alarm('sweep-failures', 'The sweep cannot delete some expired keys; its log has one of the errors.', reported('sweepFailed'), { from: 1, period: hour, of: 3 }),
  alarm('sweep-stopped', 'The sweep of expired keys does not run: look whether its rule is disabled or its concurrency is 0.', ofFunction('Sweep', 'Invocations'), { below: 1, period: hour, of: 3 }),
  alarm('collector-errors', 'The garbage collector fails; its log has the error. Dependents of deleted owners stay, and foreground deletions wait.', ofFunction('Garbagecollector', 'Errors'), { from: 1, period: quarter, of: 2 }),
  alarm('collector-failures', 'The garbage collector cannot process some objects; its log has one of the errors.', reported('collectionFailed'), { from: 1, period: hour, of: 3 }),
  alarm('collector-stopped', 'The schedule of the garbage collector does not run, so no full pass happens: look whether its rule is disabled.', ofSchedule('Garbagecollector'), { below: 1, period: hour, of: 3 }),
  alarm('stream-age', 'The garbage collector is 15 minutes behind the changes of objects. After six hours it discards them (uncollected-changes), and the hourly pass finds what was missed.', ofFunction('Garbagecollector', 'IteratorAge'), { from: quarter * 1000, period: fiveMinutes, statistic: 'Maximum' }),
  // Remains in alarm until an operator empties the queue.
  alarm('uncollected-changes', 'The garbage collector could not process changes of objects. Find the cause in its log, invoke a full pass, and purge the queue: docs/monitoring.md has the commands.', messagesIn('UncollectedChanges'), { ...once, statistic: 'Maximum' }),
  alarm('events-failed', 'Events about access keys cannot be published. The log of lifecycle has the error: mostly the bus of the setting event-bus does not exist or refuses the deployment. Nothing is lost for 24 hours.', ofFunction('Lifecycle', 'Errors'), { ...once, of: 3 }),
  alarm('events-lost', 'Events about access keys were too old to be published, or the bus refused them. The log lines \'events lost\' and \'event refused\' of lifecycle have the range, or the key. Compare the keys with what your own systems know.', reported('eventsLost'), once),
  alarm('events-stopped', 'The schedule of the function that publishes events does not run: look whether its rule is disabled or its concurrency is 0.', ofSchedule('Lifecycle'), { below: 1, period: quarter, of: 2 }),
  // If it stops for six hours, lists and watches start to answer 410.
  alarm('settle-errors', 'Settling the change logs fails; the log of settle has the error. Lists and watches read more and more, and after six hours clients list again.', ofFunction('Settle', 'Errors'), { from: 10, period: quarter, of: 2 }),
  alarm('settle-stopped', 'Settling the change logs does not run: look whether its rule is disabled or its concurrency is 0.', ofFunction('Settle', 'Invocations'), { below: 1, period: quarter, of: 2 }),
  // An ended key still has access in a cluster until it is confirmed there.
  alarm('secrets-unconfirmed', 'A cluster does not confirm that tokens of ended access keys are revoked, so they may work until they expire. The log line \'secret not removed\' of boundsecrets has the cluster, the Secret and the cause. If the cluster is away, wait; if it refuses, check its credentials and role, or delete the Secret by hand.', reported('secretsUnconfirmed'), { from: 1, period: fiveMinutes, of: 3, statistic: 'Maximum' }),
  alarm('secrets-failed', 'Some access keys with tokens in clusters cannot be judged; the log of boundsecrets has the error. Tokens of ended keys may work until they expire.', reported('secretsFailed'), { from: 1, period: fiveMinutes, of: 3 }),
  alarm('secrets-errors', 'The function that revokes tokens in clusters fails; the log of boundsecrets has the error. Tokens of ended keys may work until they expire.', ofFunction('Boundsecrets', 'Errors'), { ...once, of: 3 }),
  alarm('secrets-stopped', 'The schedule of the function that revokes tokens in clusters does not run: look whether its rule is disabled or its concurrency is 0.', ofSchedule('Boundsecrets'), { below: 1, period: quarter, of: 2 }),

  // Only refusals of tokens with a good signature count: anyone can cause the others.
  alarm('exchanges-refused', 'Jobs whose ID tokens are genuine get no access keys and no tokens. The audit records of oauth2/token have the reason and the claim: mostly a trust was changed, or a platform changed its claims.', reported('exchanges', 'refused'), { from: 50, period: fiveMinutes }),
  alarm('exchanges-replayed', 'ID tokens are exchanged again, by jobs that repeat a request or by somebody who stole them. The audit record has the trust, the hash of the token and the address. If the job is not yours, disable its trust.', reported('exchanges', 'replayed'), once),
  // The calls of KMS are signatures, and one read of the public keys by each process.
  alarm('signatures', 'Tokens are signed far more often than jobs and people need them: a client asks in a loop. The audit records with a jti say who.', reported('kmsCalls'), { from: 20_000, period: hour }),
  alarm('issuer-fetch-failures', 'The public keys of an issuer of ID tokens cannot be read. The log has the provider and the error. Known keys are used for an hour.', reported('issuerFetchFailures'), { from: 3, period: 10 * minute }),
  // The value is the age of the keys in seconds. After an hour they are not used any more.
  alarm('issuer-keys-stale', 'ID tokens are verified with keys of their issuer that could not be renewed for 15 minutes. After an hour exchanges of the provider are a 503: pin its keys (jwks) if the issuer will not return soon.', reported('staleKeys'), { from: quarter, period: fiveMinutes, statistic: 'Maximum' }),
  // A thief who keeps a key from its job must replace the pending value every hour.
  alarm('rotations-replaced', 'Pending values of access keys are replaced again and again before they are used. A rotation job fails each time, or a thief of the value of a key that rotates itself keeps its job away. The events rotation-replaced have the key.', reported('rotationsReplaced'), { from: 3, period: 4 * hour }),
  alarm('leaked-keys', 'Access keys were reported as leaked, and have ended unless on-leak is report. The audit record of leaks names them. Look for what was done with them, and tell their owners.', reported('leakedKeys'), once),
  alarm('leaked-review-keys', 'A report of a leak has ended the access key with which a cluster asks keyplane, and the cluster refuses all users of keyplane. The audit record of leaks names it in reviewers. Rotate the key, enable it, and store the new value in the cluster.', reported('leakedReviewKeys'), once),
]

/** Counts requests in the access log, because API Gateway has no metrics for them. */
const counted = (MetricName: string, FilterPattern: string): Resource => ({
  Type: 'AWS::Logs::MetricFilter',
  Properties: {
    LogGroupName: ref('AccessLog'),
    FilterPattern,
    MetricTransformations: [{ MetricNamespace: own, MetricName, MetricValue: '1', DefaultValue: 0 }],
  },
})

export const alarming: Part = {
  Resources: {
    AlarmTopic: {
      Type: 'AWS::SNS::Topic',
      Properties: { TopicName: named('alarms'), KmsMasterKeyId: customerKey },
    },
    GatewayErrors: counted('serverErrors', '{ ($.status >= 500) && ($.error != "-") }'),
    Throttled: counted('throttled', '{ $.status = 429 }'),
    AuthorizerFailed: counted('authorizerFailed', '{ $.error = "AUTHORIZER_*" }'),
    ...Object.fromEntries(alarms),
  },
  Outputs: { AlarmTopicArn: { Value: ref('AlarmTopic') } },
}
