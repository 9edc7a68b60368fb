/**
 * The rules of an account (infra/settings/account.ts) for the resources of each type that they concern, and what every deployment
 * with such settings has besides (docs/deploying.md).
 *
 * Sources: AWS CloudFormation Template Reference; Amazon DynamoDB Developer Guide, "AWS KMS and DynamoDB"; AWS Lambda Developer Guide,
 * "Securing Lambda environment variables".
 */
import {
  allow,
  arn,
  att,
  either,
  forThisAccount,
  none,
  onlyIf,
  type Part,
  policy,
  type Resource,
  ref,
  sub,
  trusts,
  type Value,
} from './intrinsics.ts'

/** The key of the customer, if there is one. */
export const customerKey = onlyIf('HasKmsKey', ref('KmsKeyArn'))

/** A role, whose inline policies are given by name. A changed path replaces all roles, and versions of functions name the former ones. */
export const role = (
  trust: Value,
  policies: Readonly<Record<string, Value>>,
  { Condition, ManagedPolicyArns, DeletionPolicy = 'Delete' }: Partial<Resource> & { ManagedPolicyArns?: Value } = {},
): Resource => ({
  Type: 'AWS::IAM::Role',
  ...(Condition && { Condition }),
  DeletionPolicy,
  UpdateReplacePolicy: 'Retain',
  Properties: {
    AssumeRolePolicyDocument: trust,
    ...(Object.keys(policies).length > 0 && {
      Policies: Object.entries(policies).map(([PolicyName, PolicyDocument]) => ({ PolicyName, PolicyDocument })),
    }),
    ...(ManagedPolicyArns !== undefined && { ManagedPolicyArns }),
    Path: onlyIf('HasRolePath', ref('RolePath')),
    PermissionsBoundary: onlyIf('HasPermissionsBoundary', ref('PermissionsBoundary')),
  },
})

export const logGroup = (LogGroupName: Value, more: Partial<Resource> = {}): Resource => ({
  Type: 'AWS::Logs::LogGroup',
  ...more,
  Properties: { LogGroupName, KmsKeyId: customerKey, RetentionInDays: ref('LogRetentionDays') },
})

/** Properties of every function. */
export const ofFunctions = {
  KmsKeyArn: customerKey,
  TracingConfig: onlyIf('IsTraced', { Mode: 'Active' }),
  LoggingConfig: onlyIf('ExportsAudit', { LogGroup: ref('FunctionsLog') }),
}

/** Properties of every queue. */
export const ofQueues = { SqsManagedSseEnabled: either('HasKmsKey', none, true), KmsMasterKeyId: customerKey }

/** Managed policies of the role of every function. */
export const functionsPolicy = onlyIf('HasFunctionsPolicy', [ref('FunctionsPolicy')])

const key = ref('KmsKeyArn')
const services = ['dynamodb', 'secretsmanager', 'sqs'].map((one) => sub(`${one}.\${AWS::Region}.\${AWS::URLSuffix}`))
const managed = (name: string) => sub(`arn:\${AWS::Partition}:iam::aws:policy/service-role/${name}`)

/** What every function may do besides its own grants. One policy, because the roles would repeat it sixty times. */
const FunctionsPolicy: Resource = {
  Type: 'AWS::IAM::ManagedPolicy',
  Condition: 'HasFunctionsPolicy',
  Properties: {
    Path: onlyIf('HasRolePath', ref('RolePath')),
    PolicyDocument: policy(
      // Lambda decrypts the variables of a function with its role.
      onlyIf(
        'HasKmsKey',
        allow('kms:Decrypt', key, {
          StringLike: {
            'kms:EncryptionContext:aws:lambda:FunctionArn': arn('lambda', `function:keyplane-\${Stage}-*`),
          },
        }),
      ),
      onlyIf(
        'HasKmsKey',
        allow(['kms:Decrypt', 'kms:DescribeKey', 'kms:Encrypt', 'kms:GenerateDataKey', 'kms:ReEncrypt*'], key, {
          StringEquals: { 'kms:ViaService': services },
        }),
      ),
      // Has no resources.
      onlyIf('IsTraced', allow(['xray:PutTelemetryRecords', 'xray:PutTraceSegments'], '*')),
      onlyIf('ExportsAudit', allow(['logs:CreateLogStream', 'logs:PutLogEvents'], att('FunctionsLog', 'Arn'))),
    ),
  },
}

export const firewall: Part = {
  Resources: {
    WebAclAssociation: {
      Type: 'AWS::WAFv2::WebACLAssociation',
      Condition: 'HasWebAcl',
      Properties: {
        ResourceArn: sub(`arn:\${AWS::Partition}:apigateway:\${AWS::Region}::/restapis/\${Api}/stages/\${ApiStage}`),
        WebACLArn: ref('WebAclArn'),
      },
    },
  },
}

const Condition = 'HasBackup'
const lifecycle = { DeleteAfterDays: 35 }

export const backup: Part = {
  Resources: {
    BackupPlan: {
      Type: 'AWS::Backup::BackupPlan',
      Condition,
      Properties: {
        BackupPlan: {
          BackupPlanName: sub(`keyplane-\${Stage}`),
          BackupPlanRule: [
            {
              RuleName: 'daily',
              TargetBackupVault: ref('BackupVault'),
              ScheduleExpression: 'cron(0 3 * * ? *)',
              Lifecycle: lifecycle,
              CopyActions: onlyIf('HasBackupCopy', [
                { DestinationBackupVaultArn: ref('BackupCopyVaultArn'), Lifecycle: lifecycle },
              ]),
            },
          ],
        },
      },
    },
    BackupSelection: {
      Type: 'AWS::Backup::BackupSelection',
      Condition,
      Properties: {
        BackupPlanId: ref('BackupPlan'),
        BackupSelection: {
          SelectionName: 'table',
          IamRoleArn: att('BackupRole', 'Arn'),
          Resources: [att('Table', 'Arn')],
        },
      },
    },
    BackupRole: role(
      trusts('backup', forThisAccount),
      {},
      { Condition, ManagedPolicyArns: [managed('AWSBackupServiceRolePolicyForBackup')] },
    ),
  },
}

/** The role with which API Gateway writes the logs of all APIs in the account and region. */
export const gatewayLogRole: Resource = role(
  trusts('apigateway'),
  {},
  {
    Condition: 'SetsGatewayLogRole',
    DeletionPolicy: 'Retain',
    ManagedPolicyArns: [managed('AmazonAPIGatewayPushToCloudWatchLogs')],
  },
)

export const rights: Part = { Resources: { FunctionsPolicy } }
