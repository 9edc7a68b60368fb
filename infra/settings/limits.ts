/** Settings of lifetimes, numbers and rates. */
import { defaults } from '../../lib/server/process/variables.ts'
import type { Group, IntegerSetting } from './setting.ts'

const seconds = { type: 'integer', unit: 'seconds', minimum: 0, maximum: 3_153_600_000 } as const

type Limit = Pick<IntegerSetting, 'default' | 'meaning' | 'breaks'>

const rate = (more: Limit): IntegerSetting => ({
  type: 'integer',
  unit: 'requests per second',
  minimum: 1,
  maximum: 10_000,
  ...more,
})

const burst = (more: Limit): IntegerSetting => ({
  type: 'integer',
  unit: 'requests',
  minimum: 1,
  maximum: 5_000,
  ...more,
})

export const lifetimes: Group = {
  heading: 'Lifetimes and numbers',
  functions: 'all',
  settings: {
    'max-key-ttl-seconds': {
      ...seconds,
      zero: 'none',
      default: defaults.MAX_KEY_TTL_SECONDS,
      meaning: 'Maximum lifetime of an access key.',
      breaks: 'It applies to existing keys too: older ones end immediately.',
    },
    'max-token-ttl-seconds': {
      ...seconds,
      minimum: 600,
      default: defaults.MAX_TOKEN_TTL_SECONDS,
      meaning: 'Maximum lifetime of a token.',
    },
    'max-certificate-ttl-seconds': {
      ...seconds,
      // The minimum of Kubernetes.
      minimum: 600,
      zero: 'none besides that of the virtual cluster',
      default: defaults.MAX_CERTIFICATE_TTL_SECONDS,
      meaning: 'Maximum lifetime of a client certificate.',
    },
    'max-exchange-ttl-seconds': {
      ...seconds,
      // Keys that an exchange made end on the same day.
      minimum: 60,
      maximum: 86_400,
      default: defaults.MAX_EXCHANGE_TTL_SECONDS,
      meaning:
        'Maximum lifetime of an access key that an exchange of an ID token makes. The `ttl` of a trust and `maxTTL` of its provider may only shorten it.',
    },
    'key-retention-seconds': {
      ...seconds,
      default: defaults.KEY_RETENTION_SECONDS,
      meaning: 'How long expired keys stay readable before the sweep deletes them.',
    },
    'federated-key-retention-seconds': {
      ...seconds,
      default: defaults.FEDERATED_KEY_RETENTION_SECONDS,
      meaning: 'The same for keys that an exchange made.',
    },
    'reject-id-tokens-before': {
      type: 'integer',
      unit: 'Unix seconds',
      minimum: 0,
      maximum: 253_402_300_799,
      zero: 'none',
      default: defaults.REJECT_ID_TOKENS_BEFORE,
      meaning:
        'ID tokens that were issued earlier cannot be exchanged: for a deployment that has [lost its table](recovery.md#recovering-a-lost-deployment).',
    },
    'max-keys-per-owner': {
      type: 'integer',
      unit: 'access keys',
      minimum: 0,
      maximum: 100_000,
      zero: 'no limit',
      default: defaults.MAX_KEYS_PER_OWNER,
      meaning:
        'Maximum number of access keys per user, team or subject, expired and disabled ones included. Keys that an exchange made do not count. It is also the maximum number of federated identity credentials. Administrators whose key has no scope are exempt. Simultaneous creates may exceed the limit slightly.',
      breaks: 'Beyond it, a create is a 403 `exceeded quota`.',
    },
  },
}

export const watches: Group = {
  heading: 'Watches',
  functions: 'all',
  settings: {
    // Lambda ends a function of lists after 290 s, and a watch may take 20 s to begin. Clients back off after very short watches.
    'max-watch-seconds': {
      ...seconds,
      minimum: 10,
      maximum: 265,
      default: defaults.MAX_WATCH_SECONDS,
      meaning:
        'The longest time of a watch. Clients resume a watch that ends, except `kubectl get -w` ([clients](clients.md#watches)).',
      costs:
        'A client that leaves does not end its watch, which uses [concurrency](deploying.md#concurrency) until it ends.',
    },
    'quiet-watch-seconds': {
      ...seconds,
      minimum: 10,
      maximum: 265,
      zero: 'none',
      default: defaults.QUIET_WATCH_SECONDS,
      meaning:
        'Ends a watch that has sent no event for that long: for accounts with little [concurrency](deploying.md#concurrency).',
    },
    'watches-per-key': {
      type: 'integer',
      unit: 'watches',
      minimum: 0,
      maximum: 10_000,
      zero: 'no limit',
      default: defaults.WATCHES_PER_KEY,
      meaning:
        'Maximum number of open watches per access key, across all kinds. A controller opens one for each kind and namespace: see [concurrency](deploying.md#concurrency).',
      breaks: 'Beyond it, a watch is a 429 with `Retry-After`.',
    },
  },
}

export const limits: Group = {
  heading: 'Limits of all clients together',
  settings: {
    // The default limits of an account are 10,000 and 5,000.
    'throttle-rate': rate({
      default: 500,
      meaning: 'Requests per second.',
      breaks: 'Beyond it, a request is a 429 with `Retry-After`.',
    }),
    'throttle-burst': burst({ default: 1000, meaning: 'The burst of `throttle-rate`.' }),
    // A fleet of jobs exchanges anew after a provider has changed.
    'exchange-throttle-rate': rate({
      default: 50,
      meaning:
        'Exchanges of ID tokens per second; revocations have as many of their own. They do not use up `throttle-rate`.',
      breaks: 'Beyond it, an exchange is a 429 with `Retry-After`.',
    }),
    'exchange-throttle-burst': burst({ default: 100, meaning: 'The burst of `exchange-throttle-rate`.' }),
    // In Lambda, 0 means that nothing runs.
    'list-concurrency': {
      type: 'integer',
      unit: 'executions',
      minimum: 1,
      maximum: 100_000,
      meaning:
        'Maximum number of concurrent lists and watches of each kind: see [concurrency](deploying.md#concurrency).',
      costs: 'It takes six times as much from the concurrency of the account.',
      breaks: 'The deployment fails in an account with little concurrency.',
    },
    'leak-concurrency': {
      type: 'integer',
      unit: 'executions',
      minimum: 1,
      maximum: 1000,
      meaning:
        'Maximum number of concurrent reports of leaked keys: see [concurrency](deploying.md#concurrency). Reports are limited to 5 a second, and bursts to 20, apart from `throttle-rate`.',
      costs: 'It takes as much from the concurrency of the account.',
    },
  },
}
