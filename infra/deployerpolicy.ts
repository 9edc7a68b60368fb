/**
 * Prints the IAM policy of a deployer: what CloudFormation and the commands of this project do with the rights of their caller, for one
 * stage and for what its template contains. Sources: the handlers in the schemas of AWS CloudFormation resource types, and the Service
 * Authorization Reference.
 */
import { readFile } from 'node:fs/promises'
import { type Command, runCommand } from './command.ts'
import { param, type StackTarget, target, valuesOf } from './osls.ts'
import { ensurePackaged } from './package.ts'
import { evaluate } from './settings/evaluate.ts'

export interface Statement {
  Sid: string
  Effect: 'Allow' | 'Deny'
  Action: string[]
  Resource: string[]
  Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

export interface Policy {
  Version: '2012-10-17'
  Statement: Statement[]
}

export interface Deployment {
  stage: string
  region: string
  /** Path of the roles, which begins and ends with a slash. */
  rolePath?: string | undefined
  /** ARN of the permissions boundary of the roles. */
  boundary?: string | undefined
  /** ARN of the customer's key. */
  key?: string | undefined
  /** The resources of the template as JSON. */
  resources: string
}

/** A statement. It is needed if the resources contain the text `needs`. */
type Rule = Omit<Statement, 'Effect'> & Partial<Pick<Statement, 'Effect'>> & { needs?: string }

const byCloudFormation = { 'ForAnyValue:StringEquals': { 'aws:CalledVia': 'cloudformation.amazonaws.com' } }

/** Returns the partition of a region. */
export const partitionOf = (region: string): string => {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}

/** Returns the policy. IAM allows 6,144 characters in a managed one. */
export function deployerPolicy({ resources, ...deployment }: Deployment): Policy {
  const Statement = rulesOf(deployment)
    .filter(({ needs }) => needs === undefined || resources.includes(`"${needs}"`))
    .map(({ needs: _, Sid, Effect = 'Allow', ...rest }) => ({ Sid, Effect, ...rest }))
  return { Version: '2012-10-17', Statement }
}

function rulesOf({ stage, region, rolePath = '/', boundary, key }: Omit<Deployment, 'resources'>): Rule[] {
  const partition = partitionOf(region)
  const name = `keyplane-${stage}`
  const arn = (service: string, resource: string) => `arn:${partition}:${service}:${region}:*:${resource}`
  const roles = `arn:${partition}:iam::*:role${rolePath}${name}-*`
  const anywhere = ['*']
  return [
    { Sid: 'Stack', Action: ['cloudformation:*'], Resource: [arn('cloudformation', `stack/${name}/*`)] },
    {
      // Only a change set of type IMPORT has these types. It takes over what is not of the stack, such as keys and backups, which have no names.
      Sid: 'NoImports',
      Effect: 'Deny',
      Action: ['cloudformation:CreateChangeSet'],
      Resource: anywhere,
      Condition: { Null: { 'cloudformation:ImportResourceTypes': 'false' } },
    },
    {
      Sid: 'Lookups',
      Action: [
        'cloudformation:ValidateTemplate',
        'cloudwatch:DescribeAlarms',
        'events:ListRules',
        'lambda:GetEventSourceMapping',
        'lambda:List*',
        'logs:DescribeLogGroups',
        'secretsmanager:GetRandomPassword',
        'sts:GetCallerIdentity',
      ],
      Resource: anywhere,
    },
    {
      Sid: 'Bucket',
      Action: ['s3:*'],
      Resource: [`arn:${partition}:s3:::${name}-*`, `arn:${partition}:s3:::${name}-*/*`],
    },
    { Sid: 'Functions', Action: ['lambda:*'], Resource: [arn('lambda', `function:${name}-*`)] },
    {
      Sid: 'Streams',
      Action: ['lambda:*EventSourceMapping', 'lambda:TagResource'],
      Resource: anywhere,
      Condition: { ArnLike: { 'lambda:FunctionArn': arn('lambda', `function:${name}-*`) } },
    },
    {
      Sid: 'Rollouts',
      Action: ['codedeploy:*'],
      Resource: [
        arn('codedeploy', `application:${name}-*`),
        arn('codedeploy', `deploymentgroup:${name}-*/*`),
        arn('codedeploy', 'deploymentconfig:CodeDeployDefault.Lambda*'),
      ],
    },
    {
      Sid: 'RightsOfRoles',
      // With a boundary, the holder gives no role more than that. So without it no deployment can take the boundary away.
      Action: ['iam:AttachRolePolicy', 'iam:CreateRole', 'iam:De*RolePolicy', 'iam:PutRole*'],
      Resource: [roles],
      ...(boundary && { Condition: { StringEquals: { 'iam:PermissionsBoundary': boundary } } }),
    },
    {
      Sid: 'Roles',
      Action: [
        'iam:DeleteRole',
        'iam:GetRole*',
        'iam:List*RolePolicies',
        'iam:TagRole',
        'iam:UntagRole',
        'iam:UpdateAssumeRolePolicy',
        'iam:UpdateRole',
      ],
      Resource: [roles],
    },
    {
      Sid: 'Policies',
      needs: 'AWS::IAM::ManagedPolicy',
      Action: [
        'iam:CreatePolicy*',
        'iam:DeletePolicy*',
        'iam:GetPolicy*',
        'iam:ListEntitiesForPolicy',
        'iam:ListPolicyVersions',
      ],
      Resource: [roles.replace(':role/', ':policy/')],
    },
    {
      Sid: 'PassRoles',
      Action: ['iam:PassRole'],
      Resource: [roles],
      Condition: {
        StringEquals: {
          'iam:PassedToService': ['lambda', 'apigateway', 'codedeploy', 'firehose', 'logs', 'backup'].map(
            (service) => `${service}.amazonaws.com`,
          ),
        },
      },
    },
    {
      Sid: 'Api',
      // Their ARNs have IDs that API Gateway chooses.
      Action: ['apigateway:*'],
      Resource: ['/account', '/restapis', '/restapis/*', '/tags/*'].map(
        (path) => `arn:${partition}:apigateway:${region}::${path}`,
      ),
    },
    {
      Sid: 'Domain',
      needs: 'AWS::ApiGateway::DomainName',
      Action: ['apigateway:*'],
      Resource: ['/domainnames', '/domainnames/*'].map((path) => `arn:${partition}:apigateway:${region}::${path}`),
    },
    {
      Sid: 'RoleOfCertificates',
      needs: 'AWS::ApiGateway::DomainName',
      Action: ['iam:CreateServiceLinkedRole'],
      Resource: [`arn:${partition}:iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*`],
      Condition: { StringEquals: { 'iam:AWSServiceName': 'ops.apigateway.amazonaws.com' } },
    },
    {
      Sid: 'Logs',
      Action: ['logs:*'],
      Resource: [`/aws/lambda/${name}-*`, `/keyplane/${stage}/*`, `API-Gateway-Execution-Logs_*/${stage}*`].map(
        (group) => arn('logs', `log-group:${group}`),
      ),
    },
    {
      Sid: 'LogsOfTheApi',
      Action: [
        'logs:*LogDelivery',
        'logs:DescribeResourcePolicies',
        'logs:ListLogDeliveries',
        'logs:PutResourcePolicy',
      ],
      Resource: anywhere,
    },
    {
      Sid: 'Table',
      Action: [
        'dynamodb:CreateTable',
        'dynamodb:Describe*',
        'dynamodb:GetResourcePolicy',
        'dynamodb:List*',
        'dynamodb:*Resource',
        'dynamodb:UpdateContinuousBackups',
        'dynamodb:UpdateT*',
      ],
      Resource: [arn('dynamodb', `table/${name}-*`)],
    },
    {
      Sid: 'SigningKeys',
      // A key has no name. CloudFormation makes these calls for the keys of the stack alone.
      Action: [
        'kms:CreateKey',
        'kms:DescribeKey',
        'kms:DisableKey',
        'kms:EnableKey',
        'kms:GetKey*',
        'kms:ListResourceTags',
        'kms:PutKeyPolicy',
        'kms:ScheduleKeyDeletion',
        'kms:*Resource',
        'kms:UpdateKeyDescription',
      ],
      Resource: anywhere,
      Condition: byCloudFormation,
    },
    ...(key === undefined
      ? []
      : [
          {
            Sid: 'CustomerKey',
            // Lambda, DynamoDB and Firehose make grants for themselves with the rights of whoever names the key.
            Action: [
              'kms:CreateGrant',
              'kms:Decrypt',
              'kms:DescribeKey',
              'kms:Encrypt',
              'kms:GenerateDataKey*',
              'kms:ReEncrypt*',
            ],
            Resource: [key],
            Condition: byCloudFormation,
          },
        ]),
    {
      Sid: 'Secrets',
      Action: [
        // Not GetSecretValue and PutSecretValue.
        'secretsmanager:*Secret',
        'secretsmanager:GetResourcePolicy',
        'secretsmanager:*Resource',
      ],
      // CloudFormation names the pepper by its logical ID.
      Resource: [`keyplane/${stage}/*`, 'Pepper-*', `${name}-*`].map((id) => arn('secretsmanager', `secret:${id}`)),
      Condition: byCloudFormation,
    },
    {
      Sid: 'AlarmsAndQueues',
      Action: ['cloudwatch:*', 'events:*', 'sns:*', 'sqs:*'],
      Resource: [
        arn('cloudwatch', `alarm:${name}-*`),
        `arn:${partition}:cloudwatch::*:dashboard/${name}`,
        arn('events', `rule/${name}-*`),
        arn('sns', `${name}-*`),
        arn('sqs', `${name}-*`),
      ],
    },
    {
      Sid: 'Network',
      needs: 'VpcConfig',
      Action: ['ec2:DescribeSecurityGroups', 'ec2:DescribeSubnets', 'ec2:DescribeVpcs'],
      Resource: anywhere,
    },
    {
      Sid: 'WebAcl',
      needs: 'AWS::WAFv2::WebACLAssociation',
      Action: ['wafv2:AssociateWebACL', 'wafv2:DisassociateWebACL', 'wafv2:GetWebACL*'],
      Resource: [
        arn('wafv2', 'regional/webacl/*'),
        `arn:${partition}:apigateway:${region}::/restapis/*/stages/${stage}`,
      ],
    },
    {
      Sid: 'AuditRecords',
      needs: 'AWS::KinesisFirehose::DeliveryStream',
      Action: ['firehose:*'],
      Resource: [arn('firehose', `deliverystream/${name}-*`)],
    },
    {
      Sid: 'Backups',
      needs: 'AWS::Backup::BackupPlan',
      // Their ARNs have IDs that AWS Backup chooses.
      Action: [
        'backup:CreateBackup*',
        'backup:DeleteBackup*',
        'backup:GetBackup*',
        'backup:ListTags',
        'backup:TagResource',
        'backup:UpdateBackupPlan',
      ],
      Resource: anywhere,
      Condition: byCloudFormation,
    },
  ]
}

/**
 * Packages the project and returns the policy for deploying it with these settings, `NAME=VALUE`. Throws a UsageError when the stage or
 * a setting is invalid.
 */
export async function policyFor({
  stage,
  region,
  param = [],
}: StackTarget & { stage: string; region: string }): Promise<Policy> {
  const values = valuesOf({ stage, param })
  const { parametrized } = await ensurePackaged({ quiet: true })
  const { Resources } = evaluate(JSON.parse(await readFile(parametrized, 'utf8')), { Stage: stage, ...values })
  return deployerPolicy({
    stage,
    region,
    rolePath: values.RolePath,
    boundary: values.PermissionsBoundary,
    key: values.KmsKeyArn,
    resources: JSON.stringify(Resources),
  })
}

const COMMAND = {
  call: 'npm run deployer-policy',
  about: `Prints the IAM policy for deploying, bootstrap, rollback and removal of one stage. Pass the settings of the deployment: the
policy has what they need. Requires no network and no login.`,
  options: { stage: target.stage, region: target.region, param },
} as const satisfies Command

if (import.meta.main) {
  await runCommand(COMMAND, async (deployment) => {
    process.stdout.write(`${JSON.stringify(await policyFor(deployment), null, 2)}\n`)
  })
}
