/** Settings with which a deployment follows the rules of an account: who may reach it, with which keys it encrypts, what it keeps. */
import type { Group, TextSetting } from './setting.ts'

/** Returns a setting that is the ARN of a resource in an account. */
const arn = (
  service: string,
  resource: string,
  more: Pick<TextSetting, 'form' | 'meaning' | 'breaks' | 'costs' | 'requires'>,
): TextSetting => ({
  type: 'text',
  pattern: new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:([0-9]{12}|aws):${resource}$`),
  maximumLength: 512,
  ...more,
})

export const access: Group = {
  heading: 'Who reaches the API',
  settings: {
    'allowed-cidrs': {
      type: 'text',
      pattern: /^[0-9a-f.:]{2,39}\/[0-9]{1,3}(,[0-9a-f.:]{2,39}\/[0-9]{1,3}){0,49}$/,
      form: 'up to 50 CIDRs, separated by commas',
      maximumLength: 2200,
      meaning:
        'The only source addresses whose requests API Gateway accepts: see [who reaches the API](account-rules.md#who-reaches-the-api).',
      breaks:
        'Requests from other addresses are a 403 without an audit record, those of clusters and CI jobs included.',
    },
    'vpc-endpoint-ids': {
      type: 'text',
      pattern: /^vpce-[0-9a-f]{8,17}(,vpce-[0-9a-f]{8,17}){0,9}$/,
      form: 'up to 10 IDs of interface endpoints for execute-api, separated by commas',
      excludes: ['domain'],
      meaning:
        'Makes the API private: only these endpoints reach it. See [who reaches the API](account-rules.md#who-reaches-the-api).',
      costs: 'Interface endpoints have a price.',
      breaks:
        'Clients outside the VPC, including clusters that read the public keys of tokens, no longer reach the API.',
    },
    'disable-execute-api': {
      type: 'boolean',
      default: false,
      requires: ['domain'],
      meaning: 'Whether only the domain reaches the API, and no longer the host name of API Gateway.',
      breaks: 'Clients and clusters that use the old URL no longer reach the API.',
    },
    'web-acl-arn': arn('wafv2', 'regional/webacl/[A-Za-z0-9_-]+/[a-f0-9-]+', {
      form: 'the ARN of a regional web ACL of AWS WAF',
      meaning: 'The web ACL that judges each request before the API does.',
      costs: 'AWS WAF has a price for each request.',
      breaks: 'A rule about bodies refuses some requests of kubectl.',
    }),
  },
}

export const account: Group = {
  heading: 'Rules of the account',
  settings: {
    'permissions-boundary': arn('iam', 'policy/[A-Za-z0-9_+=,.@/-]+', {
      form: 'the ARN of a policy',
      meaning: 'The permissions boundary of every role.',
      breaks: 'Functions fail for what the boundary does not allow.',
    }),
    'role-path': {
      type: 'text',
      pattern: /^\/([A-Za-z0-9_+=,.@-]+\/)+$/,
      form: 'a path that begins and ends with a slash',
      maximumLength: 256,
      absent: '`/`',
      meaning: 'The path of every role.',
      breaks: 'A change replaces all roles.',
    },
    'kms-key-arn': arn('kms', 'key/[a-f0-9-]+', {
      form: 'the ARN of a symmetric KMS key',
      meaning:
        'The key for the table, the secrets, the logs, the queues, the alarms and the variables of functions, in place of those of AWS: see [a key of your own](account-rules.md#a-key-of-your-own).',
      costs: 'Each read of the table may be a [call to KMS](cost.md).',
      breaks: 'Without the key nothing works, and nothing can be restored.',
    }),
    tracing: {
      type: 'boolean',
      default: false,
      meaning: 'Whether API Gateway and the functions send traces to AWS X-Ray.',
      costs: 'X-Ray has a price for each trace.',
    },
    'api-log-role': {
      type: 'text',
      values: ['set', 'keep'],
      pattern: /^(set|keep)$/,
      form: 'set or keep',
      default: 'set',
      meaning:
        'Whether the deployment sets the role with which API Gateway writes logs, which is one for all APIs of the account in the region. `keep` leaves that role alone.',
      breaks: 'With `keep`, the deployment fails in an account in which nobody has set the role.',
    },
    'audit-retention-days': {
      type: 'integer',
      unit: 'days',
      minimum: 1,
      maximum: 36_500,
      meaning:
        'Exports the audit records to a bucket that keeps them for that long, whatever the retention of the logs: see [audit records in S3](account-rules.md#audit-records-in-s3).',
      costs: 'Data Firehose and S3.',
      breaks: 'Until then, nobody can delete the records or shorten their retention.',
    },
    'backup-vault': {
      type: 'text',
      pattern: /^[A-Za-z0-9_-]{2,50}$/,
      form: 'the name of a backup vault in the region',
      meaning: 'The vault in which AWS Backup keeps a daily copy of the table for 35 days.',
      costs: 'AWS Backup has a price for each GB.',
    },
    'backup-copy-vault-arn': arn('backup', 'backup-vault:[A-Za-z0-9_-]{2,50}', {
      form: 'the ARN of a backup vault',
      requires: ['backup-vault'],
      meaning: 'The vault of another region or account that gets a copy of each backup.',
      costs: 'Transfer and storage there.',
    }),
  },
}
