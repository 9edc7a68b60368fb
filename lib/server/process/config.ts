/**
 * Reads the settings of a deployment from the environment variables that serverless.yml sets. A function has only the
 * variables it needs. Reading an absent one throws an error with its name.
 */
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'
import { checkEnvironment, type Environment, requiredText } from './environment.ts'

export interface Config {
  /** Path of the API below the host, without a trailing slash. */
  readonly basePath: string
  readonly stage: string
  /** Issuer (`iss`) of tokens: an https URL without a trailing slash. */
  readonly issuer: string
  /** Where clients reach the API: an https URL without a trailing slash. By default the issuer. */
  readonly apiUrl: string
  /** ID of the secret with the peppers of the key hashes. */
  readonly pepperSecretId: string
  /** ID of the secret with the first access key. Only bootstrap has it. */
  readonly accessKeySecretId: string
  /** IDs of the KMS keys for tokens: the first key signs, and all keys are published. */
  readonly signingKeyIds: readonly string[]
  /** Name prefix of the secrets with credentials of virtual clusters. Ends with a slash. */
  readonly virtualClusterSecretsPrefix: string
  /** The objects of a project are in the namespace PREFIX + PROJECT. */
  readonly projectNamespacePrefix: string
  /** Which namespaces of connected clusters are the spaces of projects: see `parseSpaceNamespace`. */
  readonly spaceNamespace: string
  /** Maximum lifetime of access keys in seconds. 0 means no limit. It also applies to existing keys. */
  readonly maxKeyTtlSeconds: number
  readonly maxTokenTtlSeconds: number
  /** 0 means no limit: the virtual cluster decides. */
  readonly maxCertificateTtlSeconds: number
  /** How long expired keys are retained, in seconds. */
  readonly keyRetentionSeconds: number
  /** The same for keys that an exchange made. */
  readonly federatedKeyRetentionSeconds: number
  /**
   * ID tokens issued before this time (Unix seconds) are rejected. 0 means none are. A deployment that has lost its table
   * has also lost the records of which tokens were exchanged.
   */
  readonly rejectIdTokensBefore: number
  /** The longest time of a watch, and after how long without an event it ends. A quiet time of 0 means no limit. */
  readonly watchLimits: { readonly maxSeconds: number; readonly quietSeconds: number }
  /** Maximum number of open watches per access key. 0 means no limit. */
  readonly watchesPerKey: number
  /** Whether uses of access keys record the address and the user agent. */
  readonly recordSources: boolean
  /** Whether functions compress large streamed responses. */
  readonly compressStreams: boolean
  /** Maximum number of access keys for each user, team or subject. 0 means no limit. */
  readonly maxKeysPerOwner: number
  /** Maximum lifetime of an access key that an exchange makes, in seconds. */
  readonly maxExchangeTtlSeconds: number
  /** Whether issuers of identity providers may be at private addresses. */
  readonly allowPrivateIssuers: boolean
  /** The event bus for events about access keys: its name or ARN, or `none`. */
  readonly eventBus: string
  /** What a report of a leaked access key does: it ends the key, or it is only told. */
  readonly onLeak: 'disable' | 'report'
  /** Where GitHub publishes the keys with which it signs reports of leaks. */
  readonly leakKeysUrl: string
  /** How people sign in to the console with an identity provider; undefined: they cannot. */
  readonly consoleSignIn: ConsoleSignIn | undefined
}

export interface ConsoleSignIn {
  /** Issuer (`iss`) of the ID tokens, below which its discovery document is. */
  readonly issuer: string
  /** The name of the console at the identity provider, and the audience of its ID tokens. */
  readonly clientID: string
  /** `NAME@UID` of the FederatedIdentityCredential that exchanges ID tokens for access keys. */
  readonly credential: string
  /** The scopes that the console asks for, separated by spaces. */
  readonly scopes: string
  /** Further origins of the identity provider that the console may call. */
  readonly origins: readonly string[]
}

/** Throws if only some of the three variables are set. */
function readConsoleSignIn(environment: Environment): ConsoleSignIn | undefined {
  const { CONSOLE_ISSUER, CONSOLE_CLIENT_ID, CONSOLE_CREDENTIAL, CONSOLE_SCOPES, CONSOLE_ORIGINS } = environment
  if (!CONSOLE_ISSUER && !CONSOLE_CLIENT_ID && !CONSOLE_CREDENTIAL) return undefined
  return {
    issuer: requiredText(environment, 'CONSOLE_ISSUER'),
    clientID: requiredText(environment, 'CONSOLE_CLIENT_ID'),
    credential: requiredText(environment, 'CONSOLE_CREDENTIAL'),
    scopes: CONSOLE_SCOPES || 'openid email profile',
    origins: CONSOLE_ORIGINS ? CONSOLE_ORIGINS.split(',') : [],
  }
}

const wholeNumber = (environment: Environment, name: string, absent: number): number =>
  environment[name] ? Number(environment[name]) : absent

const daySeconds = 86_400

/**
 * Returns the settings. Throws if a variable has an invalid value. Each setting is read on access, so that a function
 * without a variable fails only if it needs it.
 */
export function readConfig(environment: Environment): Config {
  checkEnvironment(environment)
  return {
    get basePath() {
      return withoutTrailingSlashes(environment.BASE_PATH ?? '/kubernetes/management')
    },
    get stage() {
      return requiredText(environment, 'STAGE')
    },
    get issuer() {
      return withoutTrailingSlashes(requiredText(environment, 'ISSUER'))
    },
    get apiUrl() {
      return withoutTrailingSlashes(environment.API_URL ?? requiredText(environment, 'ISSUER'))
    },
    get pepperSecretId() {
      return requiredText(environment, 'PEPPER_SECRET_ID')
    },
    get accessKeySecretId() {
      return requiredText(environment, 'ACCESS_KEY_SECRET_ID')
    },
    get signingKeyIds() {
      return requiredText(environment, 'SIGNING_KEY_IDS')
        .split(',')
        .map((id) => id.trim())
        .filter((id) => id !== '')
    },
    get virtualClusterSecretsPrefix() {
      return requiredText(environment, 'VIRTUAL_CLUSTER_SECRETS_PREFIX')
    },
    get projectNamespacePrefix() {
      return environment.PROJECT_NAMESPACE_PREFIX ?? 'p-'
    },
    get spaceNamespace() {
      return environment.SPACE_NAMESPACE ?? 'p-{project}-s-{space}'
    },
    get maxKeyTtlSeconds() {
      return wholeNumber(environment, 'MAX_KEY_TTL_SECONDS', 0)
    },
    get maxTokenTtlSeconds() {
      return wholeNumber(environment, 'MAX_TOKEN_TTL_SECONDS', 30 * daySeconds)
    },
    get maxCertificateTtlSeconds() {
      return wholeNumber(environment, 'MAX_CERTIFICATE_TTL_SECONDS', 0)
    },
    get keyRetentionSeconds() {
      return wholeNumber(environment, 'KEY_RETENTION_SECONDS', 7 * daySeconds)
    },
    get federatedKeyRetentionSeconds() {
      return wholeNumber(environment, 'FEDERATED_KEY_RETENTION_SECONDS', daySeconds)
    },
    get rejectIdTokensBefore() {
      return wholeNumber(environment, 'REJECT_ID_TOKENS_BEFORE', 0)
    },
    get watchLimits() {
      return {
        maxSeconds: wholeNumber(environment, 'MAX_WATCH_SECONDS', 120),
        quietSeconds: wholeNumber(environment, 'QUIET_WATCH_SECONDS', 0),
      }
    },
    get watchesPerKey() {
      return wholeNumber(environment, 'WATCHES_PER_KEY', 100)
    },
    get recordSources() {
      return environment.RECORD_SOURCES !== 'false'
    },
    get compressStreams() {
      return environment.COMPRESS_STREAMS !== 'false'
    },
    get maxKeysPerOwner() {
      return wholeNumber(environment, 'MAX_KEYS_PER_OWNER', 1000)
    },
    get maxExchangeTtlSeconds() {
      return wholeNumber(environment, 'MAX_EXCHANGE_TTL_SECONDS', 12 * 3600)
    },
    get allowPrivateIssuers() {
      return environment.ALLOW_PRIVATE_ISSUERS === 'true'
    },
    get eventBus() {
      return requiredText(environment, 'EVENT_BUS')
    },
    get onLeak() {
      return environment.ON_LEAK === 'report' ? 'report' : 'disable'
    },
    get leakKeysUrl() {
      return requiredText(environment, 'LEAK_KEYS_URL')
    },
    get consoleSignIn() {
      return readConsoleSignIn(environment)
    },
  }
}
