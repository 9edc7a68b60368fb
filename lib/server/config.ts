/**
 * The settings of a deployment, from the environment that serverless.yml gives each function. A function has only the
 * variables it needs: reading one that is absent throws, naming it.
 */
import { withoutTrailingSlashes } from '../meta/slashes.ts'

export type Environment = Readonly<Record<string, string | undefined>>

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
  /** Which namespaces of connected clusters are the spaces of projects: see `readSpaceNamespace`. */
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

function whole(environment: Environment, name: string, absent: number, unit: string): number {
  const value = environment[name]
  if (value === undefined || value === '') return absent
  if (!/^\d{1,10}$/.test(value)) throw new Error(`environment variable ${name} must be a number of ${unit}`)
  return Number(value)
}

const seconds = (environment: Environment, name: string, absent: number): number =>
  whole(environment, name, absent, 'seconds')

const daySeconds = 86_400

/** Values are read when they are asked for, so that a function without a variable fails only where it needs it. */
export function readConfig(environment: Environment): Config {
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
      return seconds(environment, 'MAX_KEY_TTL_SECONDS', 0)
    },
    get maxTokenTtlSeconds() {
      return seconds(environment, 'MAX_TOKEN_TTL_SECONDS', 30 * daySeconds)
    },
    get maxCertificateTtlSeconds() {
      return seconds(environment, 'MAX_CERTIFICATE_TTL_SECONDS', 0)
    },
    get keyRetentionSeconds() {
      return seconds(environment, 'KEY_RETENTION_SECONDS', 7 * daySeconds)
    },
    get watchesPerKey() {
      return whole(environment, 'WATCHES_PER_KEY', 100, 'watches')
    },
    get maxKeysPerOwner() {
      return whole(environment, 'MAX_KEYS_PER_OWNER', 1000, 'access keys')
    },
  }
}
