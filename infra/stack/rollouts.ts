/**
 * How a release replaces another (docs/deploying.md): functions are published as versions behind an alias, which is all that requests,
 * streams and schedules invoke. The resource Release has another description whenever the code or a setting of a function is another
 * one, and so has each version: whatever updates the stack publishes new versions. CodeDeploy shifts the requests of the functions
 * with `canary` to them, and goes back when an alarm rings. All other functions follow at once when these are shifted: Lambda allows
 * 15 calls a second of its control plane, which CodeDeploy would exceed for all functions at the same time.
 *
 * Sources: AWS CloudFormation Template Reference, "AWS::Lambda::Version", "AWS::Lambda::Alias" and "UpdatePolicy attribute".
 */
import { createHash } from 'node:crypto'
import packageFile from '../../package.json' with { type: 'json' }
import { type DeployedFunction, functions } from '../functions.ts'
import { parameters } from '../settings/parameters.ts'
import { role } from './account.ts'
import { conditions } from './conditions.ts'
import {
  allow,
  arn,
  att,
  either,
  forThisAccount,
  named,
  onlyIf,
  policy,
  type Resource,
  type Resources,
  ref,
  sub,
  trusts,
  type Value,
} from './intrinsics.ts'
import { signingConditions } from './signingkeys.ts'

/** The alias that requests, streams and schedules invoke. */
export const alias = 'live'

/** Returns the bytes of the archive of a function. */
export type ArchiveOf = (one: DeployedFunction) => Uint8Array

/** A function with the bytes of its archive. */
type Packed = DeployedFunction & { archive: Uint8Array }

const published = functions.filter(({ unversioned }) => !unversioned)
const shifted = published.filter(({ canary }) => canary)
/** The functions that no rollout shifts. */
export const following = published.filter(({ canary }) => !canary)

/** Returns what makes the alias of a function, and what invokes it must wait for. */
export const publisherOf = ({ id, canary }: DeployedFunction): string => (canary ? `${id}Alias` : 'Published')

/** Returns the ARN of the alias of a function. */
export const aliasOf = ({ id, canary }: DeployedFunction): Value =>
  canary ? ref(`${id}Alias`) : sub(`\${${id}LambdaFunction.Arn}:${alias}`)

/** What each version, and the function itself, has of the release: Lambda refuses to publish a version that equals the last one. */
export const release = att('Release', 'Description')

const digestOf = (bytes: Uint8Array | string, form: 'hex' | 'base64' = 'hex') =>
  createHash('sha256').update(bytes).digest(form)

/** Returns what publishes the functions among the resources. */
export function rollouts(lambda: Resources, archiveOf: ArchiveOf): Resources {
  const packed: Packed[] = published.map((one) => ({ ...one, archive: archiveOf(one) }))
  const archives = digestOf(Buffer.concat(packed.map(({ archive }) => archive)))
  const configuration = published.map(({ id }) => {
    const { Code: _, ...properties } = lambda[`${id}LambdaFunction`]?.Properties ?? {}
    return properties
  })
  // The path replaces the roles of functions, which their properties only refer to.
  const names = parametersIn([configuration, ref('RolePath')])
  return {
    ...Object.fromEntries(packed.filter(({ canary }) => canary).flatMap(versionOf)),
    Published: publishedBy(packed.filter(({ canary }) => !canary)),
    Release: {
      Type: 'Custom::Release',
      Properties: {
        ServiceToken: att('ReleaseLambdaFunction', 'Arn'),
        ServiceTimeout: 60,
        Release: `${packageFile.version} ${digestOf(JSON.stringify([archives, configuration])).slice(0, 16)}`,
        ...Object.fromEntries(names.map((name) => [name, ref(name)])),
      },
    },
    ...codeDeploy,
  }
}

/** One resource for them all, because a stack may have 500. Its function publishes them as CloudFormation publishes the others. */
const publishedBy = (following: readonly Packed[]): Resource => ({
  Type: 'Custom::Versions',
  DependsOn: shifted.map(({ id }) => `${id}Alias`),
  Properties: {
    ServiceToken: att('ReleaseLambdaFunction', 'Arn'),
    ServiceTimeout: 300,
    Alias: alias,
    Description: release,
    Functions: following.map(({ id, archive }) => ({
      Name: ref(`${id}LambdaFunction`),
      CodeSha256: digestOf(archive, 'base64'),
    })),
  },
})

function versionOf({ id, warm, archive }: Packed): [string, Resource][] {
  const version: Resource = {
    Type: 'AWS::Lambda::Version',
    // A rollback by hand needs the versions of earlier releases, but not those of rollouts that went back.
    DeletionPolicy: 'RetainExceptOnCreate',
    UpdateReplacePolicy: 'Retain',
    Properties: {
      FunctionName: ref(`${id}LambdaFunction`),
      Description: release,
      // Lambda refuses to publish other code, such as that of somebody who has changed the function or the bucket meanwhile.
      CodeSha256: digestOf(archive, 'base64'),
    },
  }
  const live: Resource = {
    Type: 'AWS::Lambda::Alias',
    UpdatePolicy: shiftBy(`${id}Rollout`),
    Properties: {
      FunctionName: ref(`${id}LambdaFunction`),
      FunctionVersion: att(`${id}Version`, 'Version'),
      Name: alias,
      ...(warm && {
        ProvisionedConcurrencyConfig: onlyIf('HasProvisionedConcurrency', {
          ProvisionedConcurrentExecutions: ref('ProvisionedConcurrency'),
        }),
      }),
    },
  }
  return [
    [`${id}Version`, version],
    [`${id}Alias`, live],
    // CodeDeploy runs one deployment at a time in a group, so each function has its own.
    [`${id}Rollout`, group],
  ]
}

/** Lets CodeDeploy shift an alias. Without it, CloudFormation moves the alias at once. */
const shiftBy = (group: string) => ({
  CodeDeployLambdaAliasUpdate: onlyIf('RollsOutGradually', {
    ApplicationName: ref('RolloutApplication'),
    DeploymentGroupName: ref(group),
  }),
})

const group: Resource = {
  Type: 'AWS::CodeDeploy::DeploymentGroup',
  Condition: 'RollsOutGradually',
  Properties: {
    ApplicationName: ref('RolloutApplication'),
    ServiceRoleArn: att('RolloutRole', 'Arn'),
    DeploymentConfigName: either(
      'RollsOutLinearly',
      'CodeDeployDefault.LambdaLinear10PercentEvery1Minute',
      'CodeDeployDefault.LambdaCanary10Percent5Minutes',
    ),
    DeploymentStyle: { DeploymentType: 'BLUE_GREEN', DeploymentOption: 'WITH_TRAFFIC_CONTROL' },
    AutoRollbackConfiguration: {
      Enabled: true,
      Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM', 'DEPLOYMENT_STOP_ON_REQUEST'],
    },
    AlarmConfiguration: {
      Enabled: true,
      Alarms: ['Errors', 'Authorizer', 'Latency'].map((one) => ({ Name: ref(`Rollout${one}Alarm`) })),
    },
  },
}

/**
 * They see the requests of both versions: of ten requests, one is the new version's. They do not notify anybody: the alarms of
 * alarms.ts do, and the stack reports the rollback.
 */
const rolloutAlarm = (name: string, why: string, properties: Readonly<Record<string, Value>>): Resource => ({
  Type: 'AWS::CloudWatch::Alarm',
  Properties: {
    AlarmName: named(`rollout-${name}`),
    AlarmDescription: `A rollout goes back, because ${why}.`,
    Period: 60,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    TreatMissingData: 'notBreaching',
    ...properties,
  },
})

const failures = (MetricName: string) => ({
  Namespace: sub(`keyplane/\${Stage}`),
  MetricName,
  Statistic: 'Sum',
  EvaluationPeriods: 1,
  Threshold: 5,
})

const codeDeploy: Resources = {
  RolloutApplication: { Type: 'AWS::CodeDeploy::Application', Properties: { ComputePlatform: 'Lambda' } },
  // What AWSCodeDeployRoleForLambdaLimited allows, for the functions of this deployment only.
  RolloutRole: role(trusts('codedeploy', forThisAccount), {
    shift: policy(
      allow(
        ['lambda:GetAlias', 'lambda:UpdateAlias', 'lambda:GetProvisionedConcurrencyConfig'],
        [arn('lambda', `function:keyplane-\${Stage}-*`)],
      ),
      // Has no resources.
      allow('cloudwatch:DescribeAlarms', '*'),
    ),
  }),
  RolloutErrorsAlarm: rolloutAlarm('errors', 'requests fail with server errors', failures('serverErrors')),
  RolloutAuthorizerAlarm: rolloutAlarm('authorizer', 'the authorizer fails', failures('authorizerFailed')),
  // The slowest of a hundred requests: those of a new version are ten of them. A cold start takes less than a second.
  RolloutLatencyAlarm: rolloutAlarm('latency', 'the authorizer is slow', {
    Namespace: 'AWS/Lambda',
    MetricName: 'Duration',
    Dimensions: [{ Name: 'FunctionName', Value: ref('AuthorizerLambdaFunction') }],
    ExtendedStatistic: 'p99',
    EvaluationPeriods: 2,
    Threshold: 3000,
  }),
}

/** Returns the parameters that a part of the template depends on, also by its conditions. */
function parametersIn(part: Value): string[] {
  const all: Readonly<Record<string, Value>> = { ...conditions, ...signingConditions }
  const found = new Set<string>()
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const { Ref, Condition, 'Fn::Sub': text, 'Fn::If': choice } = value as Record<string, unknown>
    if (typeof Ref === 'string') found.add(Ref)
    if (typeof text === 'string') for (const [, name = ''] of text.matchAll(/\$\{(\w+)\}/g)) found.add(name)
    const condition = Condition ?? (Array.isArray(choice) ? choice[0] : undefined)
    if (typeof condition === 'string' && condition in all) look(all[condition])
    for (const one of Object.values(value)) look(one)
  }
  look(part)
  return Object.keys(parameters).filter((name) => found.has(name))
}
