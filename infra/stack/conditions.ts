/**
 * What a deployment has only with some settings. Their parameters are made from infra/settings/.
 *
 * AWS's page "Condition functions" lists Ref and Fn::FindInMap for conditions. Fn::Select and Fn::Split work there too: cfn-lint,
 * which is AWS's own, accepts them (rule E8003), and so do templates of AWS ParallelCluster.
 */
import { ref, type Value } from './intrinsics.ts'

export const equals = (one: Value, other: Value) => ({ 'Fn::Equals': [one, other] })
export const not = (one: Value) => ({ 'Fn::Not': [one] })
export const or = (...all: Value[]) => ({ 'Fn::Or': all })
const and = (...all: Value[]) => ({ 'Fn::And': all })
export const holds = (name: string) => ({ Condition: name })

const is = (parameter: string, value: string) => equals(ref(parameter), value)
const given = (parameter: string) => not(is(parameter, ''))

export const conditions = {
  HasDomain: given('Domain'),
  HasIssuer: given('Issuer'),
  HasListConcurrency: given('ListConcurrency'),
  HasLeakConcurrency: given('LeakConcurrency'),
  HasProvisionedConcurrency: given('ProvisionedConcurrency'),
  RollsOutLinearly: is('Rollout', 'linear'),
  RollsOutGradually: or(holds('RollsOutLinearly'), holds('RollsOutByCanary')),
  RollsOutByCanary: or(is('Rollout', 'canary'), and(is('Rollout', ''), is('Stage', 'prod'))),
  HasWarmReads: given('WarmReadUnits'),
  HasWarmWrites: given('WarmWriteUnits'),
  HasVpc: not(or(is('VpcSubnets', ''), is('VpcSecurityGroups', ''))),
  HasVpcForIssuers: and(holds('HasVpc'), is('AllowPrivateIssuers', 'true')),
  HasEventBus: not(is('EventBus', 'none')),
  HasArnOfEventBus: equals({ 'Fn::Select': [0, { 'Fn::Split': [':', ref('EventBus')] }] }, 'arn'),
  HasAllowedCidrs: given('AllowedCidrs'),
  IsPrivate: given('VpcEndpointIds'),
  HasResourcePolicy: or(holds('HasAllowedCidrs'), holds('IsPrivate')),
  HasDisabledExecuteApi: is('DisableExecuteApi', 'true'),
  HasEndpointConfiguration: or(holds('HasDisabledExecuteApi'), holds('IsPrivate')),
  HasWebAcl: given('WebAclArn'),
  HasPermissionsBoundary: given('PermissionsBoundary'),
  HasRolePath: given('RolePath'),
  HasKmsKey: given('KmsKeyArn'),
  IsTraced: is('Tracing', 'true'),
  SetsGatewayLogRole: is('ApiLogRole', 'set'),
  ExportsAudit: given('AuditRetentionDays'),
  HasBackup: given('BackupVault'),
  HasBackupCopy: given('BackupCopyVaultArn'),
  HasFunctionsPolicy: or(holds('HasKmsKey'), holds('IsTraced'), holds('ExportsAudit')),
} as const satisfies Readonly<Record<string, Value>>
