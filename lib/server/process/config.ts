/**
 * The settings of a deployment, from the environment that serverless.yml gives each function. A function has only the
 * variables it needs: reading one that is absent throws, naming it.
 */
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'
import { checkEnvironment, type Environment } from './environment.ts'

export interface Config {
  /** DynamoDB table with everything. */
  readonly tableName: string
  /** Path of the API below the host, without a final slash. */
  readonly basePath: string
  readonly stage: string
  /** `iss` of tokens: an https URL without a final slash. */
  readonly issuer: string
  /** Secret with the peppers of key hashes. */
  readonly pepperSecretId: string
  /** Secret with the first access key; only bootstrap knows it. */
  readonly accessKeySecretId: string
  /** KMS keys that sign tokens: the first signs, all are published. */
  readonly signingKeyIds: readonly string[]
  /** Names of secrets with credentials of virtual clusters begin so; ends with a slash. */
  readonly virtualClusterSecretsPrefix: string
  /** The objects of project P lie in namespace prefix + P. */
  readonly projectNamespacePrefix: string
  /** Which namespaces of connected clusters are the spaces of projects: see `parseSpaceNamespace`. */
  readonly spaceNamespace: string
  /** Longest life of a key in seconds; 0 = no limit. Binds keys that are there already. */
  readonly maxKeyTtlSeconds: number
  readonly maxTokenTtlSeconds: number
  /** 0 = whatever the virtual cluster signs. */
  readonly maxCertificateTtlSeconds: number
  /** How long expired keys are kept, in seconds. */
  readonly keyRetentionSeconds: number
  /** Watches that one key may have open; 0 = as many as it likes. */
  readonly watchesPerKey: number
  /** How many access keys may stand for one user, team or subject; 0 = any number. */
  readonly maxKeysPerOwner: number
}

function text(environment: Environment, name: string): string {
  const value = environment[name]
  if (!value) throw new Error(`environment variable ${name} is not set`)
  return value
}

const whole = (environment: Environment, name: string, absent: number): number =>
  environment[name] ? Number(environment[name]) : absent

const daySeconds = 86_400

/**
 * Throws where a variable that is set says what it may not. Values are read when they are asked for, so that a function without
 * a variable fails only where it needs it.
 */
export function readConfig(environment: Environment): Config {
  checkEnvironment(environment)
  return {
    get tableName() {
      return text(environment, 'TABLE_NAME')
    },
    get basePath() {
      return withoutTrailingSlashes(environment.BASE_PATH ?? '/kubernetes/management')
    },
    get stage() {
      return text(environment, 'STAGE')
    },
    get issuer() {
      return withoutTrailingSlashes(text(environment, 'ISSUER'))
    },
    get pepperSecretId() {
      return text(environment, 'PEPPER_SECRET_ID')
    },
    get accessKeySecretId() {
      return text(environment, 'ACCESS_KEY_SECRET_ID')
    },
    get signingKeyIds() {
      return text(environment, 'SIGNING_KEY_IDS')
        .split(',')
        .map((id) => id.trim())
        .filter((id) => id !== '')
    },
    get virtualClusterSecretsPrefix() {
      return text(environment, 'VIRTUAL_CLUSTER_SECRETS_PREFIX')
    },
    get projectNamespacePrefix() {
      return environment.PROJECT_NAMESPACE_PREFIX ?? 'p-'
    },
    get spaceNamespace() {
      return environment.SPACE_NAMESPACE ?? 'p-{project}-s-{space}'
    },
    get maxKeyTtlSeconds() {
      return whole(environment, 'MAX_KEY_TTL_SECONDS', 0)
    },
    get maxTokenTtlSeconds() {
      return whole(environment, 'MAX_TOKEN_TTL_SECONDS', 30 * daySeconds)
    },
    get maxCertificateTtlSeconds() {
      return whole(environment, 'MAX_CERTIFICATE_TTL_SECONDS', 0)
    },
    get keyRetentionSeconds() {
      return whole(environment, 'KEY_RETENTION_SECONDS', 7 * daySeconds)
    },
    get watchesPerKey() {
      return whole(environment, 'WATCHES_PER_KEY', 100)
    },
    get maxKeysPerOwner() {
      return whole(environment, 'MAX_KEYS_PER_OWNER', 1000)
    },
  }
}
