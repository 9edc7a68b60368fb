/** Settings of the resources of a deployment: its address, its keys, its logs, its network. */
import { type Group, text } from './setting.ts'

export const address: Group = {
  heading: 'The address and the issuer',
  settings: {
    domain: {
      type: 'text',
      // Lower case, without a trailing dot: the name becomes part of the issuer.
      pattern: /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]$/,
      form: 'a host name in lower case',
      maximumLength: 253,
      requires: ['certificate-arn'],
      meaning: 'A host name for the API: see [a domain](deploying.md#a-domain).',
      breaks:
        'Without a domain a new API has another address: every kube config points to the wrong host, and the default issuer changes.',
    },
    'certificate-arn': {
      type: 'text',
      pattern: /^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate\/[a-z0-9-]+$/,
      form: 'the ARN of a certificate in ACM',
      requires: ['domain'],
      meaning: 'The certificate of the domain in ACM, in the region of the deployment.',
    },
    issuer: text('ISSUER', {
      maximumLength: 512,
      absent: "the API's own URL",
      meaning: '`iss` of all tokens, without a trailing slash. Every audience begins with it (`ISSUER/clusters/NAME`).',
      breaks: 'Changing it invalidates every token, and every cluster must be configured again.',
    }),
    'signing-keys': {
      type: 'text',
      // Each number once.
      pattern: /^(?!.*([1-9]).*\1)[1-9](,[1-9]){0,3}$/,
      form: 'up to four different numbers from 1 to 9, separated by commas',
      default: '1',
      meaning:
        'The keys for tokens: the first one signs, and all are published. See [signing keys](keys-and-rotation.md#signing-keys).',
      costs: 'A KMS key each.',
      breaks: 'Tokens of a key that is no longer listed are refused.',
    },
  },
}

export const operation: Group = {
  heading: 'Operation',
  settings: {
    'log-retention-days': {
      type: 'integer',
      unit: 'days',
      minimum: 1,
      maximum: 3653,
      // Those that CloudWatch Logs accepts.
      values: [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653],
      default: 30,
      meaning: 'Retention of all logs, with the audit records.',
      costs: 'CloudWatch Logs charges for what it stores.',
    },
    'event-bus': {
      type: 'text',
      pattern: /^(arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus\/)?[A-Za-z0-9._-][A-Za-z0-9/._-]{0,255}$/,
      form: 'the name or the ARN of an event bus, or none',
      default: 'default',
      meaning:
        'The EventBridge bus that receives [events](events.md) about access keys: the name of one in the same account and region, or an ARN. `none`: no events.',
    },
    rollout: {
      type: 'text',
      values: ['all-at-once', 'canary', 'linear'],
      pattern: /^(all-at-once|canary|linear)$/,
      form: 'all-at-once, canary or linear',
      absent: '`canary` for a stage named prod, otherwise `all-at-once`',
      meaning:
        'How a deployment shifts requests to its functions: see [rollouts](rollouts.md). `canary`: 10% of them for 5 minutes, then all. `linear`: 10% more each minute.',
      costs: 'With `canary` and `linear`, a deployment takes 5 or 10 minutes longer.',
    },
    'provisioned-concurrency': {
      type: 'integer',
      unit: 'environments',
      minimum: 1,
      maximum: 1000,
      meaning:
        'Number of environments kept initialized for the authorizer, and as many for the function of kube configs: see [concurrency](deploying.md#concurrency).',
      costs: 'It has a [price](cost.md#fixed-costs-per-month) all the time.',
    },
    // From what a new table has to the default quota of a table.
    'warm-read-units': {
      type: 'integer',
      unit: 'read units per second',
      minimum: 12_000,
      maximum: 40_000,
      meaning:
        'What the table can serve immediately (warm throughput). A new table serves 12,000. Raise it before an expected peak ([limits](scale.md#writes)).',
      costs: 'DynamoDB charges once.',
      breaks: 'DynamoDB never lowers it.',
    },
    'warm-write-units': {
      type: 'integer',
      unit: 'write units per second',
      minimum: 4_000,
      maximum: 40_000,
      meaning: 'The same for writes. A new table serves 4,000.',
      costs: 'DynamoDB charges once.',
      breaks: 'DynamoDB never lowers it.',
    },
    // Lambda accepts at most 16 subnets and 5 security groups.
    'vpc-subnets': {
      type: 'text',
      pattern: /^subnet-[0-9a-f]{8,17}(,subnet-[0-9a-f]{8,17}){0,15}$/,
      form: 'up to 16 IDs of subnets, separated by commas',
      requires: ['vpc-security-groups'],
      meaning: 'Subnets for virtual clusters in a VPC: see [a VPC](deploying.md#a-vpc).',
      costs: 'NAT and interface endpoints have a price.',
    },
    'vpc-security-groups': {
      type: 'text',
      pattern: /^sg-[0-9a-f]{8,17}(,sg-[0-9a-f]{8,17}){0,4}$/,
      form: 'up to 5 IDs of security groups, separated by commas',
      requires: ['vpc-subnets'],
      meaning: 'Security groups of the functions in these subnets.',
    },
  },
}
