/** Checks the settings of a deployment (`custom.settings` of serverless.yml) with the rest of the configuration. */

const seconds = { type: 'integer', minimum: 0, maximum: 3153600000 }

// Part of the names of all resources. Lambda's are the strictest: the longest one of a function,
// keyplane-STAGE-virtualclusterinstances-kubeconfig-create, ends at 64 characters.
const stagePattern = '^[a-z][a-z0-9]{0,12}$'
const stageRule = '1 to 13 lower-case letters and digits, the first one a letter'

const settings = {
  stage: { type: 'string', pattern: stagePattern },
  // Compared byte for byte by those who verify tokens: no trailing slash, query or fragment.
  issuer: { type: 'string', pattern: '^https://[^/?#\\s]+(/[^/?#\\s]+)*$', maxLength: 512 },
  'max-key-ttl-seconds': seconds,
  'max-token-ttl-seconds': { ...seconds, minimum: 600 },
  // 0: whatever the virtual cluster signs. Otherwise no less than Kubernetes signs.
  'max-certificate-ttl-seconds': { ...seconds, anyOf: [{ const: 0 }, { minimum: 600 }] },
  'key-retention-seconds': seconds,
  // Of one user, team or subject; 0: any number.
  'max-keys-per-owner': { type: 'integer', minimum: 0, maximum: 100000 },
  'project-namespace-prefix': { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,30})$' },
  // As lib/authorization/scopes/space.ts reads it.
  'space-namespace': {
    type: 'string',
    pattern: '^([a-z0-9][-a-z0-9]{0,15})?\\{project\\}[-a-z0-9]{1,8}\\{space\\}([-a-z0-9]{0,7}[a-z0-9])?$',
  },
  // What CloudWatch Logs takes.
  'log-retention-days': {
    type: 'integer',
    enum: [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653],
  },
  // Requests per second for all clients together, and how many at once; 10000 and 5000 are the first limits of an account.
  'throttle-rate': { type: 'integer', minimum: 1, maximum: 10000 },
  'throttle-burst': { type: 'integer', minimum: 1, maximum: 5000 },
  // 0: as many as it likes.
  'watches-per-key': { type: 'integer', minimum: 0, maximum: 10000 },
  // Of each of the four functions that serve lists and watches. Lambda takes 0 for none at all.
  'list-concurrency': { type: 'integer', minimum: 1, maximum: 100000 },
  'signing-keys': { type: 'string', pattern: '^[1-9][0-9]?(,[1-9][0-9]?){0,3}$' },
}

/** Without them there is something to go by (serverless.yml). */
const optional = ['issuer', 'list-concurrency']
const required = Object.keys(settings).filter((name) => !optional.includes(name))

module.exports = class Settings {
  constructor(serverless, { param = [] } = {}) {
    // A misspelt setting would leave the default in force.
    for (const one of [param].flat()) {
      const [name] = String(one).split('=')
      if (name === 'stage' || !Object.hasOwn(settings, name))
        throw new serverless.classes.Error(`there is no setting ${name}`)
    }
    serverless.configSchemaHandler.defineCustomProperties({
      properties: { settings: { type: 'object', additionalProperties: false, properties: settings, required } },
    })
  }
}

Object.assign(module.exports, { stagePattern, stageRule })
