/**
 * Prints the IAM policy of a deployer: what CloudFormation and the commands of this project do with the rights of their caller, for one
 * stage and for what its template contains. Sources: the handlers in the schemas of AWS CloudFormation resource types, and the Service
 * Authorization Reference.
 */
import { partitionOf } from '../lib/engine/outbound/awspartitions.ts'
import { type Command, runCommand } from './command.ts'
import { param, type StackTarget, target, valuesOf } from './osls.ts'

export interface Statement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string[]
  Resource: string[]
  Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

interface Policy {
  Version: '2012-10-17'
  Statement: Statement[]
}

interface Row {
  id: string
  effect?: 'Deny'
  /** Parameters of the template. The statement is needed if one of them has a value. */
  needs?: readonly string[]
  /** Names of actions by the prefix of the service. */
  actions: Readonly<Record<string, string>>
  /** ARNs after the partition. Absent: any resource. */
  on?: readonly string[]
  condition?: Statement['Condition']
}

const byCloudFormation = { 'ForAnyValue:StringEquals': { 'aws:CalledVia': 'cloudformation.amazonaws.com' } }

/** The statements. `{NAME}` stands for a value of the deployment. Without a boundary, the condition with it is left out. */
const rows: readonly Row[] = [
  { id: 'Stack', actions: { cloudformation: '*' }, on: ['cloudformation:{region}:*:stack/{name}/*'] },
  {
    // Only a change set of type IMPORT has these types. It takes over what is not of the stack, such as keys and backups, which have no names.
    id: 'NoImports',
    effect: 'Deny',
    actions: { cloudformation: 'CreateChangeSet' },
    condition: { Null: { 'cloudformation:ImportResourceTypes': 'false' } },
  },
  {
    id: 'Lookups',
    actions: {
      cloudformation: 'ValidateTemplate',
      cloudwatch: 'DescribeAlarms',
      events: 'ListRules',
      lambda: 'GetEventSourceMapping List*',
      logs: 'DescribeLogGroups',
      secretsmanager: 'GetRandomPassword',
      sts: 'GetCallerIdentity',
    },
  },
  { id: 'Bucket', actions: { s3: '*' }, on: ['s3:::{name}-*', 's3:::{name}-*/*'] },
  { id: 'Functions', actions: { lambda: '*' }, on: ['lambda:{region}:*:function:{name}-*'] },
  {
    id: 'Streams',
    actions: { lambda: '*EventSourceMapping TagResource' },
    condition: { ArnLike: { 'lambda:FunctionArn': 'arn:{partition}:lambda:{region}:*:function:{name}-*' } },
  },
  {
    id: 'Rollouts',
    actions: { codedeploy: '*' },
    on: [
      'codedeploy:{region}:*:application:{name}-*',
      'codedeploy:{region}:*:deploymentgroup:{name}-*/*',
      'codedeploy:{region}:*:deploymentconfig:CodeDeployDefault.Lambda*',
    ],
  },
  {
    id: 'RightsOfRoles',
    actions: { iam: 'AttachRolePolicy CreateRole De*RolePolicy PutRole*' },
    on: ['iam::*:role{RolePath}{name}-*'],
    // The holder gives no role more than the boundary, and no deployment can take the boundary away.
    condition: { StringEquals: { 'iam:PermissionsBoundary': '{PermissionsBoundary}' } },
  },
  {
    id: 'Roles',
    actions: { iam: 'DeleteRole GetRole* List*RolePolicies TagRole UntagRole UpdateAssumeRolePolicy UpdateRole' },
    on: ['iam::*:role{RolePath}{name}-*'],
  },
  {
    id: 'Policies',
    needs: ['KmsKeyArn', 'Tracing', 'AuditRetentionDays'],
    actions: { iam: 'CreatePolicy* DeletePolicy* GetPolicy* ListEntitiesForPolicy ListPolicyVersions' },
    on: ['iam::*:policy{RolePath}{name}-*'],
  },
  {
    id: 'PassRoles',
    actions: { iam: 'PassRole' },
    on: ['iam::*:role{RolePath}{name}-*'],
    condition: {
      StringEquals: {
        'iam:PassedToService': ['lambda', 'apigateway', 'codedeploy', 'firehose', 'logs', 'backup'].map(
          (service) => `${service}.amazonaws.com`,
        ),
      },
    },
  },
  {
    // API Gateway chooses the IDs in these ARNs.
    id: 'Api',
    actions: { apigateway: '*' },
    on: ['/account', '/restapis', '/restapis/*', '/tags/*'].map((path) => `apigateway:{region}::${path}`),
  },
  {
    id: 'Domain',
    needs: ['Domain'],
    actions: { apigateway: '*' },
    on: ['apigateway:{region}::/domainnames', 'apigateway:{region}::/domainnames/*'],
  },
  {
    id: 'RoleOfCertificates',
    needs: ['Domain'],
    actions: { iam: 'CreateServiceLinkedRole' },
    on: ['iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*'],
    condition: { StringEquals: { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' } },
  },
  {
    id: 'Logs',
    actions: { logs: '*' },
    on: ['/aws/lambda/{name}-*', '/keyplane/{stage}/*', 'API-Gateway-Execution-Logs_*/{stage}*'].map(
      (group) => `logs:{region}:*:log-group:${group}`,
    ),
  },
  {
    id: 'LogsOfTheApi',
    actions: { logs: '*LogDelivery DescribeResourcePolicies ListLogDeliveries PutResourcePolicy' },
  },
  {
    id: 'Table',
    actions: { dynamodb: 'CreateTable Describe* GetResourcePolicy List* *Resource UpdateContinuousBackups UpdateT*' },
    on: ['dynamodb:{region}:*:table/{name}-*'],
  },
  {
    // A key has no name. CloudFormation makes these calls for the keys of the stack alone.
    id: 'SigningKeys',
    actions: {
      kms: 'CreateKey DescribeKey DisableKey EnableKey GetKey* ListResourceTags PutKeyPolicy ScheduleKeyDeletion *Resource UpdateKeyDescription',
    },
    condition: byCloudFormation,
  },
  {
    // Lambda, DynamoDB and Firehose make grants for themselves with the rights of whoever names the key.
    id: 'CustomerKey',
    needs: ['KmsKeyArn'],
    actions: { kms: 'CreateGrant Decrypt DescribeKey Encrypt GenerateDataKey* ReEncrypt*' },
    on: ['{KmsKeyArn}'],
    condition: byCloudFormation,
  },
  {
    id: 'Secrets',
    // Not GetSecretValue and PutSecretValue.
    actions: { secretsmanager: '*Secret GetResourcePolicy *Resource' },
    // CloudFormation names the pepper by its logical ID.
    on: ['keyplane/{stage}/*', 'Pepper-*', '{name}-*'].map((id) => `secretsmanager:{region}:*:secret:${id}`),
    condition: byCloudFormation,
  },
  {
    id: 'AlarmsAndQueues',
    actions: { cloudwatch: '*', events: '*', sns: '*', sqs: '*' },
    on: [
      'cloudwatch:{region}:*:alarm:{name}-*',
      'cloudwatch::*:dashboard/{name}',
      'events:{region}:*:rule/{name}-*',
      'sns:{region}:*:{name}-*',
      'sqs:{region}:*:{name}-*',
    ],
  },
  { id: 'Network', needs: ['VpcSubnets'], actions: { ec2: 'DescribeSecurityGroups DescribeSubnets DescribeVpcs' } },
  {
    id: 'WebAcl',
    needs: ['WebAclArn'],
    actions: { wafv2: 'AssociateWebACL DisassociateWebACL GetWebACL*' },
    on: ['wafv2:{region}:*:regional/webacl/*', 'apigateway:{region}::/restapis/*/stages/{stage}'],
  },
  {
    id: 'AuditRecords',
    needs: ['AuditRetentionDays'],
    actions: { firehose: '*' },
    on: ['firehose:{region}:*:deliverystream/{name}-*'],
  },
  {
    // AWS Backup chooses the IDs in these ARNs.
    id: 'Backups',
    needs: ['BackupVault'],
    actions: { backup: 'CreateBackup* DeleteBackup* GetBackup* ListTags TagResource UpdateBackupPlan' },
    condition: byCloudFormation,
  },
]

/**
 * Returns the policy for deploying with these settings, `NAME=VALUE`. IAM allows 6,144 characters in a managed one. Throws a UsageError
 * when the stage or a setting is invalid.
 */
export function policyFor({ stage, region, param = [] }: StackTarget & { stage: string; region: string }): Policy {
  const values = valuesOf({ stage, param })
  const { name: partition } = partitionOf(region)
  const texts = new Map(
    Object.entries({ RolePath: '/', ...values, stage, region, partition, name: `keyplane-${stage}` }),
  )
  const filled: typeof rows = JSON.parse(JSON.stringify(rows), (_, one) =>
    typeof one === 'string' ? one.replace(/\{(\w+)\}/g, (whole, name) => texts.get(name) ?? whole) : one,
  )
  const isGiven = (parameter: string) => !['', 'false'].includes(values[parameter] ?? '')
  const Statement = filled
    .filter(({ needs }) => needs?.some(isGiven) ?? true)
    .map(
      ({ id, effect, actions, on, condition }): Statement => ({
        Sid: id,
        Effect: effect ?? 'Allow',
        Action: Object.entries(actions).flatMap(([service, names]) =>
          names.split(' ').map((one) => `${service}:${one}`),
        ),
        Resource: on?.map((arn) => (arn.startsWith('arn:') ? arn : `arn:${partition}:${arn}`)) ?? ['*'],
        ...(condition && !JSON.stringify(condition).includes('{PermissionsBoundary}') && { Condition: condition }),
      }),
    )
  return { Version: '2012-10-17', Statement }
}

const COMMAND = {
  call: 'npm run deployer-policy',
  about: `Prints the IAM policy for deploying, bootstrap, rollback and removal of one stage. Pass the settings of the deployment: the
policy has what they need. Requires no network and no login.`,
  options: { stage: target.stage, region: target.region, param },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async (deployment) => {
    process.stdout.write(`${JSON.stringify(policyFor(deployment), null, 2)}\n`)
  })
}
