/**
 * Every setting of a deployment. The parameters of the CloudFormation template, the environment of functions, the checks of
 * `npm run deploy` and docs/settings.md are made from this table. The forms and defaults that functions need are in lib.
 */
import { spaceNamespaces } from '../../lib/access/scopes/space.ts'
import { defaults, LEAST_IDLE_SECONDS } from '../../lib/server/process/variables.ts'
import { arn, choice, flag, type Group, integer, named, type Setting, seconds, text, variableOf } from './setting.ts'

const rows: readonly Group[] = [
  {
    heading: 'The address and the issuer',
    settings: {
      domain: {
        // Lower case, without a trailing dot: the name becomes part of the issuer.
        ...text(/^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]$/, 'a host name in lower case'),
        maximumLength: 253,
        requires: ['certificate-arn'],
        text: 'A host name for the API: see [a domain](deploying.md#a-domain). **Effect:** Without a domain a new API has another address: every kube config points to the wrong host, and the default issuer changes.',
      },
      'certificate-arn': {
        ...text(/^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate\/[a-z0-9-]+$/, 'the ARN of a certificate in ACM'),
        requires: ['domain'],
        text: 'The certificate of the domain in ACM, in the region of the deployment.',
      },
      issuer: {
        ...named('ISSUER'),
        maximumLength: 512,
        absent: "the API's own URL",
        text: '`iss` of all tokens, without a trailing slash. Every audience begins with it (`ISSUER/clusters/NAME`). **Effect:** Changing it invalidates every token, and every cluster must be configured again.',
      },
      'signing-keys': {
        // Each number once.
        ...text(
          /^(?!.*([1-9]).*\1)[1-9](-rsa)?(,[1-9](-rsa)?){0,3}$/,
          'up to four different numbers from 1 to 9, each of them possibly with -rsa, separated by commas',
        ),
        default: '1',
        text: 'The keys for tokens: the first one signs, and all are published. `2` is a key for ES256, and `2-rsa` one for RS256. See [signing keys](operating.md#signing-keys). **Cost:** A KMS key each. **Effect:** Tokens of a key that is no longer listed are refused.',
      },
    },
  },
  {
    heading: 'Lifetimes and numbers',
    functions: 'all',
    settings: {
      'max-key-ttl-seconds': {
        ...seconds,
        zero: 'none',
        text: 'Maximum lifetime of an access key. **Effect:** It applies to existing keys too: older ones end immediately.',
      },
      'max-token-ttl-seconds': { ...seconds, minimum: 600, text: 'Maximum lifetime of a token.' },
      'max-certificate-ttl-seconds': {
        ...seconds,
        // The minimum of Kubernetes.
        minimum: 600,
        zero: 'none besides that of the virtual cluster',
        text: 'Maximum lifetime of a client certificate.',
      },
      'max-exchange-ttl-seconds': {
        // Keys that an exchange made end on the same day.
        ...integer('seconds', 60, 86_400),
        text: 'Maximum lifetime of an access key that an exchange of an ID token makes. The `ttl` of a trust and `maxTTL` of its provider may only shorten it.',
      },
      'key-retention-seconds': {
        ...seconds,
        text: 'How long expired keys stay readable before the sweep deletes them.',
      },
      'federated-key-retention-seconds': { ...seconds, text: 'The same for keys that an exchange made.' },
      'reject-id-tokens-before': {
        ...integer('Unix seconds', 0, 253_402_300_799),
        zero: 'none',
        text: 'ID tokens that were issued earlier cannot be exchanged: for a deployment that has [lost its table](operating.md#a-lost-deployment).',
      },
      'max-keys-per-owner': {
        ...integer('access keys', 0, 100_000),
        zero: 'no limit',
        text: 'Maximum number of access keys per user, team or subject, expired and disabled ones included. Keys that an exchange made do not count. It is also the maximum number of federated identity credentials. Administrators whose key has no scope are exempt. Simultaneous creates may exceed the limit slightly. **Effect:** Beyond it, a create is a 403 `exceeded quota`.',
      },
    },
  },
  {
    heading: 'Unused keys',
    functions: ['lifecycle'],
    settings: {
      'max-idle-seconds': {
        ...seconds,
        minimum: LEAST_IDLE_SECONDS,
        zero: 'never',
        text: 'After how long without a use an access key ends: see [unused keys](operating.md#unused-keys). The time counts at the earliest from when this was set or shortened. **Cost:** Each key is read once a day. **Effect:** Nothing revives a key that has ended so.',
      },
    },
  },
  {
    heading: 'Projects and spaces',
    functions: 'all',
    settings: {
      'project-namespace-prefix': {
        ...named('PROJECT_NAMESPACE_PREFIX'),
        text: 'Prefix of the namespace that holds the objects of a project.',
      },
      'space-namespace': {
        ...text(
          new RegExp(spaceNamespaces.source.replace(/\?<\w+>/g, '')),
          'optional text, {project}, a separator, {space} and optional text, of lower-case letters, digits and hyphens',
        ),
        text: 'Names of the namespaces of spaces in connected clusters ([scopes](scopes.md#spaces)). **Effect:** Choose a pattern that matches no other namespace: `{project}-{space}` would make `kube-system` space `system` of project `kube`. A change takes effect immediately for every key and token for `spaces` or `projects`.',
      },
    },
  },
  {
    heading: 'Records, compression and issuers',
    functions: 'all',
    settings: {
      'record-sources': {
        ...flag,
        text: 'Records the addresses and user agents that used an access key, in [`status.lastSources`](access-keys.md#source-addresses) and in the [history](access-keys.md#history). They are personal data. With `false` they are no longer shown. Each use of a key then removes its last addresses, and those of the history expire. [Audit records](audit.md) and [events](audit.md#events) have addresses in any case.',
      },
      'record-usage': {
        ...flag,
        text: 'Records the [usage](usage.md) of each access key for 90 days: resources, verbs and namespaces. The advisor needs it. **Effect:** With `false` no further usage is recorded. If you set it to `true` again, the recorded time starts again.',
      },
      'compress-streams': {
        ...flag,
        text: 'Compresses lists and OpenAPI documents of more than 128 KB, and the files of the [console](console.md), for clients that accept gzip. Functions compress them. **Effect:** Set it to `false` if `npm run smoke` says that a compressed list arrives damaged.',
      },
      'allow-private-issuers': {
        ...flag,
        text: 'Allows issuers of identity providers at private addresses (RFC 1918, RFC 4193). Loopback and link-local addresses are always refused. **Effect:** In a VPC it needs NAT for public issuers: see [a VPC](deploying.md#a-vpc).',
      },
    },
  },
  {
    heading: 'Watches',
    functions: 'all',
    settings: {
      // Lambda ends a function of lists after 290 s, and a watch may take 20 s to begin. Clients back off after very short watches.
      'max-watch-seconds': {
        ...integer('seconds', 10, 265),
        text: 'Maximum duration of a watch. Clients resume a watch that ends, except `kubectl get -w` ([clients](clients.md#what-clients-need)). **Cost:** A client that leaves does not end its watch, which uses [concurrency](deploying.md#concurrency) until it ends.',
      },
      'quiet-watch-seconds': {
        ...integer('seconds', 10, 265),
        zero: 'none',
        text: 'Ends a watch that has sent no event for that long: for accounts with little [concurrency](deploying.md#concurrency).',
      },
      'watches-per-key': {
        ...integer('watches', 0, 10_000),
        zero: 'no limit',
        text: 'Maximum number of open watches per access key, across all kinds; the keys of one owner together have three times as many. A controller opens one for each kind and namespace: see [concurrency](deploying.md#concurrency). **Effect:** Beyond it, a watch is a 429 with `Retry-After`.',
      },
    },
  },
  {
    heading: 'Limits of all clients together',
    settings: {
      // The default limits of an account are 10,000 and 5,000.
      'throttle-rate': {
        ...integer('requests per second', 1, 10_000),
        default: 500,
        text: 'Requests per second. TokenReviews and SubjectAccessReviews have as many of their own each. **Effect:** Beyond it, a request is a 429 with `Retry-After`.',
      },
      'throttle-burst': { ...integer('requests', 1, 5000), default: 1000, text: 'The burst of `throttle-rate`.' },
      // A fleet of jobs exchanges anew after a provider has changed.
      'exchange-throttle-rate': {
        ...integer('requests per second', 1, 10_000),
        default: 50,
        text: 'Exchanges of ID tokens per second; revocations have as many of their own. They do not use up `throttle-rate`. **Effect:** Beyond it, an exchange is a 429 with `Retry-After`.',
      },
      'exchange-throttle-burst': {
        ...integer('requests', 1, 5000),
        default: 100,
        text: 'The burst of `exchange-throttle-rate`.',
      },
      // In Lambda, 0 means that nothing runs.
      'list-concurrency': {
        ...integer('executions', 1, 100_000),
        text: 'Maximum number of concurrent lists and watches of each kind: see [concurrency](deploying.md#concurrency). **Cost:** It takes seven times as much from the concurrency of the account. **Effect:** The deployment fails in an account with little concurrency.',
      },
      'leak-concurrency': {
        ...integer('executions', 1, 1000),
        text: 'Maximum number of concurrent reports of leaked keys: see [concurrency](deploying.md#concurrency). Reports are limited to 5 a second, and bursts to 20, apart from `throttle-rate`. **Cost:** It takes as much from the concurrency of the account.',
      },
    },
  },
  {
    heading: 'Leaked keys',
    functions: ['leaks'],
    settings: {
      'on-leak': {
        ...choice('disable', 'report'),
        text: 'Effect of a [report of a leaked key](leaks.md): `disable` ends the key; `report` ends nothing, and causes only the alarm and the event.',
      },
    },
  },
  {
    heading: 'Operation',
    settings: {
      'log-retention-days': {
        ...integer('days', 1, 3653),
        // Those that CloudWatch Logs accepts.
        values: [
          1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
        ],
        default: 30,
        text: 'Retention of all logs, including the audit records. **Cost:** CloudWatch Logs charges for what it stores.',
      },
      'event-bus': {
        ...text(
          /^(arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus\/)?[A-Za-z0-9._-][A-Za-z0-9/._-]{0,255}$/,
          'the name or the ARN of an event bus, or none',
        ),
        default: 'default',
        text: 'The EventBridge bus that receives [events](audit.md#events) about access keys: the name of one in the same account and region, or an ARN. `none`: no events.',
      },
      rollout: {
        ...choice('all-at-once', 'canary', 'linear'),
        absent: '`canary` for a stage named prod, otherwise `all-at-once`',
        text: 'The way in which a deployment shifts requests to its functions: see [rollouts](deploying.md#updates). `canary`: 10% of them for 5 minutes, then all. `linear`: 10% more each minute. **Cost:** With `canary` and `linear`, a deployment takes 5 or 10 minutes longer.',
      },
      'provisioned-concurrency': {
        ...integer('environments', 1, 1000),
        text: 'Number of environments kept initialized for the authorizer, and as many for the function of kube configs: see [concurrency](deploying.md#concurrency). **Cost:** It has a [price](cost.md#fixed-costs-per-month) all the time.',
      },
      // From what a new table has to the default quota of a table.
      'warm-read-units': {
        ...integer('read units per second', 12_000, 40_000),
        text: 'Read units that the table can serve immediately (warm throughput). A new table serves 12,000. Raise it before an expected peak ([limits](cost.md#what-limits-first)). **Cost:** DynamoDB charges once. **Effect:** DynamoDB never lowers it.',
      },
      'warm-write-units': {
        ...integer('write units per second', 4000, 40_000),
        text: 'The same for writes. A new table serves 4,000. **Cost:** DynamoDB charges once. **Effect:** DynamoDB never lowers it.',
      },
      // Lambda accepts at most 16 subnets and 5 security groups.
      'vpc-subnets': {
        ...text(
          /^subnet-[0-9a-f]{8,17}(,subnet-[0-9a-f]{8,17}){0,15}$/,
          'up to 16 IDs of subnets, separated by commas',
        ),
        requires: ['vpc-security-groups'],
        text: 'Subnets for virtual clusters in a VPC: see [a VPC](deploying.md#a-vpc). **Cost:** NAT and interface endpoints have a price.',
      },
      'vpc-security-groups': {
        ...text(/^sg-[0-9a-f]{8,17}(,sg-[0-9a-f]{8,17}){0,4}$/, 'up to 5 IDs of security groups, separated by commas'),
        requires: ['vpc-subnets'],
        text: 'Security groups of the functions in these subnets.',
      },
    },
  },
  {
    heading: 'Who reaches the API',
    settings: {
      'allowed-cidrs': {
        ...text(
          /^[0-9a-f.:]{2,39}\/[0-9]{1,3}(,[0-9a-f.:]{2,39}\/[0-9]{1,3}){0,49}$/,
          'up to 50 CIDRs, separated by commas',
        ),
        maximumLength: 2200,
        text: 'The only source addresses whose requests API Gateway accepts: see [who reaches the API](deploying.md#the-rules-of-an-account). **Effect:** Requests from other addresses, including those of clusters and CI jobs, are a 403 without an audit record.',
      },
      'vpc-endpoint-ids': {
        ...text(
          /^vpce-[0-9a-f]{8,17}(,vpce-[0-9a-f]{8,17}){0,9}$/,
          'up to 10 IDs of interface endpoints for execute-api, separated by commas',
        ),
        excludes: ['domain'],
        text: 'Makes the API private: only these endpoints reach it. See [who reaches the API](deploying.md#the-rules-of-an-account). **Cost:** Interface endpoints have a price. **Effect:** Clients outside the VPC, including clusters that read the public keys of tokens, no longer reach the API.',
      },
      'disable-execute-api': {
        ...flag,
        requires: ['domain'],
        text: 'Closes the host name of API Gateway, so that only the domain reaches the API. **Effect:** Clients and clusters that use the old URL no longer reach the API.',
      },
      'web-acl-arn': {
        ...arn('wafv2', 'regional/webacl/[A-Za-z0-9_-]+/[a-f0-9-]+', 'the ARN of a regional web ACL of AWS WAF'),
        text: 'The web ACL that judges each request before the API does. **Cost:** AWS WAF has a price for each request. **Effect:** A rule about bodies refuses some requests of kubectl.',
      },
    },
  },
  {
    heading: 'Rules of the account',
    settings: {
      'permissions-boundary': {
        ...arn('iam', 'policy/[A-Za-z0-9_+=,.@/-]+', 'the ARN of a policy'),
        text: 'The permissions boundary of every role. **Effect:** Functions fail for what the boundary does not allow.',
      },
      'role-path': {
        ...text(/^\/([A-Za-z0-9_+=,.@-]+\/)+$/, 'a path that begins and ends with a slash'),
        maximumLength: 256,
        absent: '`/`',
        text: 'The path of every role. **Effect:** A change replaces all roles.',
      },
      'kms-key-arn': {
        ...arn('kms', 'key/[a-f0-9-]+', 'the ARN of a symmetric KMS key'),
        text: 'The key for the table, the secrets, the logs, the queues, the alarms and the variables of functions, in place of those of AWS: see [a key of your own](deploying.md#the-rules-of-an-account). **Cost:** Each read of the table may be a [call to KMS](cost.md). **Effect:** Without the key nothing works, and nothing can be restored.',
      },
      tracing: {
        ...flag,
        text: 'Sends traces of API Gateway and the functions to AWS X-Ray. **Cost:** X-Ray has a price for each trace.',
      },
      'api-log-role': {
        ...choice('set', 'keep'),
        default: 'set',
        text: 'Sets the role with which API Gateway writes logs. All APIs of the account in the region share this role. `keep` does not change it. **Effect:** With `keep`, the deployment fails in an account in which nobody has set the role.',
      },
      'audit-retention-days': {
        ...integer('days', 1, 36_500),
        text: 'Exports the audit records to a bucket that keeps them for that long, whatever the retention of the logs: see [audit records in S3](deploying.md#the-rules-of-an-account). **Cost:** Data Firehose and S3. **Effect:** Until then, nobody can delete the records or shorten their retention.',
      },
      'backup-vault': {
        ...text(/^[A-Za-z0-9_-]{2,50}$/, 'the name of a backup vault in the region'),
        text: 'The vault in which AWS Backup keeps a daily copy of the table for 35 days. **Cost:** AWS Backup has a price for each GB.',
      },
      'backup-copy-vault-arn': {
        ...arn('backup', 'backup-vault:[A-Za-z0-9_-]{2,50}', 'the ARN of a backup vault'),
        requires: ['backup-vault'],
        text: 'The vault of another region or account that gets a copy of each backup. **Cost:** Transfer and storage there.',
      },
    },
  },
  {
    heading: 'Signing in to the console',
    functions: ['console'],
    settings: {
      'console-issuer': {
        ...named('CONSOLE_ISSUER'),
        maximumLength: 512,
        requires: ['console-client-id', 'console-credential'],
        text: 'The issuer of an identity provider with which people sign in to [the console](console.md#sign-in-with-your-company).',
      },
      'console-client-id': {
        ...named('CONSOLE_CLIENT_ID'),
        requires: ['console-issuer', 'console-credential'],
        text: 'The client ID of the console there.',
      },
      'console-credential': {
        ...named('CONSOLE_CREDENTIAL'),
        requires: ['console-issuer', 'console-client-id'],
        text: '`NAME@UID` of the federated identity credential that exchanges its ID tokens.',
      },
      'console-scopes': {
        ...named('CONSOLE_SCOPES'),
        absent: defaults.CONSOLE_SCOPES,
        requires: ['console-issuer'],
        text: 'The scopes that the console asks the identity provider for.',
      },
      'console-origins': {
        ...named('CONSOLE_ORIGINS'),
        requires: ['console-issuer'],
        text: 'Further origins of the identity provider that the console may call, if its endpoints are not at the origin of the issuer.',
      },
    },
  },
]

/** Returns the setting with the default of its variable, unless that only stands for an absent one. */
function withDefault(name: string, setting: Setting): Setting {
  const known = Object.entries(defaults).find(([variable]) => variable === variableOf(name))
  return known && setting.absent === undefined ? ({ ...setting, default: known[1] } as Setting) : setting
}

export const groups: readonly Group[] = rows.map(({ settings, ...group }) => ({
  ...group,
  settings: Object.fromEntries(Object.entries(settings).map(([name, one]) => [name, withDefault(name, one)])),
}))

/** The settings by name. */
export const settings: ReadonlyMap<string, Setting> = new Map(groups.flatMap((group) => Object.entries(group.settings)))
