/** Validates the settings of a deployment (`custom.settings` of serverless.yml) with the rest of the configuration. */

/** An https origin. */
const origin = 'https://[A-Za-z0-9.-]+(:[0-9]{1,5})?'

const seconds = { type: 'integer', minimum: 0, maximum: 3153600000 }

// The stage is part of the names of all resources. Lambda is strictest: the longest function name,
// keyplane-STAGE-virtualclusterinstances-kubeconfig-create, may have at most 64 characters.
const stagePattern = '^[a-z][a-z0-9]{0,12}$'
const stageRule = '1 to 13 lower-case letters and digits, the first one a letter'

const settings = {
  stage: { type: 'string', pattern: stagePattern },
  // Token verifiers compare the issuer byte for byte: no trailing slash, query or fragment.
  issuer: { type: 'string', pattern: '^https://[^/?#\\s]+(/[^/?#\\s]+)*$', maxLength: 512 },
  'max-key-ttl-seconds': seconds,
  'max-token-ttl-seconds': { ...seconds, minimum: 600 },
  // 0: no limit besides the virtual cluster's own. Otherwise at least the minimum of Kubernetes.
  'max-certificate-ttl-seconds': { ...seconds, anyOf: [{ const: 0 }, { minimum: 600 }] },
  'key-retention-seconds': seconds,
  'federated-key-retention-seconds': seconds,
  // Unix time in seconds. 0: none are rejected.
  'reject-id-tokens-before': { type: 'integer', minimum: 0, maximum: 253402300799 },
  // Per user, team or subject. 0: unlimited.
  'max-keys-per-owner': { type: 'integer', minimum: 0, maximum: 100000 },
  // Keys that an exchange made end on the same day.
  'max-exchange-ttl-seconds': { type: 'integer', minimum: 60, maximum: 86400 },
  'allow-private-issuers': { type: 'boolean' },
  // Exchanges per second, and revocations, each. A fleet of jobs exchanges again after a provider has changed.
  'exchange-throttle-rate': { type: 'integer', minimum: 1, maximum: 10000 },
  'exchange-throttle-burst': { type: 'integer', minimum: 1, maximum: 5000 },
  // A report of a leaked access key disables the key, or is only told.
  'on-leak': { type: 'string', enum: ['disable', 'report'] },
  'leak-keys-url': { type: 'string', pattern: '^https://[^/?#\\s]+(/[^/?#\\s]+)*$', maxLength: 512 },
  'leak-concurrency': { type: 'integer', minimum: 1, maximum: 1000 },
  'project-namespace-prefix': { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,30})$' },
  // As lib/authorization/scopes/space.ts reads it.
  'space-namespace': {
    type: 'string',
    pattern: '^([a-z0-9][-a-z0-9]{0,15})?\\{project\\}[-a-z0-9]{1,8}\\{space\\}([-a-z0-9]{0,7}[a-z0-9])?$',
  },
  // The values that CloudWatch Logs accepts.
  'log-retention-days': {
    type: 'integer',
    enum: [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653],
  },
  // Requests per second, and burst, of all clients together. The default limits of an account are 10000 and 5000.
  'throttle-rate': { type: 'integer', minimum: 1, maximum: 10000 },
  'throttle-burst': { type: 'integer', minimum: 1, maximum: 5000 },
  // Lambda ends a function of lists after 290 s, and a watch may take 20 s to begin. Clients back off after very short watches.
  'max-watch-seconds': { type: 'integer', minimum: 10, maximum: 265 },
  // 0: a quiet watch lasts as long as others.
  'quiet-watch-seconds': { type: 'integer', anyOf: [{ const: 0 }, { minimum: 10 }], minimum: 0, maximum: 265 },
  // 0: unlimited.
  'watches-per-key': { type: 'integer', minimum: 0, maximum: 10000 },
  'compress-streams': { type: 'boolean' },
  'record-sources': { type: 'boolean' },
  // For each of the six functions that serve lists and watches. In Lambda, 0 means that nothing runs.
  'list-concurrency': { type: 'integer', minimum: 1, maximum: 100000 },
  // A name or an ARN; none: no events are published.
  'event-bus': {
    type: 'string',
    pattern: '^(arn:aws[a-z-]*:events:[a-z0-9-]+:[0-9]{12}:event-bus/)?[A-Za-z0-9._-][A-Za-z0-9/._-]{0,255}$',
  },
  'signing-keys': { type: 'string', pattern: '^[1-9][0-9]?(,[1-9][0-9]?){0,3}$' },
  // Lower case, without a trailing dot: the name becomes part of the issuer.
  domain: {
    type: 'string',
    pattern: '^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\\.)+[a-z][-a-z0-9]{0,61}[a-z0-9]$',
    maxLength: 253,
  },
  'certificate-arn': { type: 'string', pattern: '^arn:aws[a-z-]*:acm:[a-z0-9-]+:[0-9]{12}:certificate/[a-z0-9-]+$' },
  // For each of the two functions.
  'provisioned-concurrency': { type: 'integer', minimum: 1, maximum: 1000 },
  // From what a new table has to the default quota of a table, per second.
  'warm-read-units': { type: 'integer', minimum: 12000, maximum: 40000 },
  'warm-write-units': { type: 'integer', minimum: 4000, maximum: 40000 },
  // Lambda accepts at most 16 subnets and 5 security groups.
  'vpc-subnets': { type: 'string', pattern: '^subnet-[0-9a-f]{8,17}(,subnet-[0-9a-f]{8,17}){0,15}$' },
  'vpc-security-groups': { type: 'string', pattern: '^sg-[0-9a-f]{8,17}(,sg-[0-9a-f]{8,17}){0,4}$' },
  // They become part of the page of the console and of its policy: lib/server/process/environment.ts has the same forms.
  'console-issuer': { type: 'string', pattern: `^${origin}(/[^/?#\\s]+)*/?$`, maxLength: 512 },
  'console-client-id': { type: 'string', pattern: '^[!-~]{1,256}$' },
  'console-credential': {
    type: 'string',
    pattern: '^[a-z0-9][-a-z0-9.]{0,252}@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
  },
  'console-scopes': { type: 'string', pattern: '^[!#-[\\]-~]{1,64}( [!#-[\\]-~]{1,64}){0,15}$' },
  'console-origins': { type: 'string', pattern: `^${origin}(,${origin}){0,7}$` },
}

/** serverless.yml has a fallback for these settings. */
const optional = [
  'issuer',
  'list-concurrency',
  'leak-concurrency',
  'domain',
  'certificate-arn',
  'provisioned-concurrency',
  'warm-read-units',
  'warm-write-units',
  'vpc-subnets',
  'vpc-security-groups',
  'console-issuer',
  'console-client-id',
  'console-credential',
  'console-scopes',
  'console-origins',
]

/** Each of these settings requires those beside it. */
const together = [
  ['domain', 'certificate-arn'],
  ['vpc-subnets', 'vpc-security-groups'],
  ['console-issuer', 'console-client-id', 'console-credential'],
]
const dependencies = {
  ...Object.fromEntries(together.flatMap((names) => names.map((one) => [one, names.filter((other) => other !== one)]))),
  'console-scopes': ['console-issuer'],
  'console-origins': ['console-issuer'],
}
const required = Object.keys(settings).filter((name) => !optional.includes(name))

module.exports = class Settings {
  constructor(serverless, { param = [] } = {}) {
    // A misspelled setting would silently leave the default in force.
    for (const one of [param].flat()) {
      const [name] = String(one).split('=')
      if (name === 'stage' || !Object.hasOwn(settings, name))
        throw new serverless.classes.Error(`there is no setting ${name}`)
    }
    serverless.configSchemaHandler.defineCustomProperties({
      properties: {
        settings: { type: 'object', additionalProperties: false, properties: settings, required, dependencies },
      },
    })
  }
}

Object.assign(module.exports, { stagePattern, stageRule })
