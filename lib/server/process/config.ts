/**
 * Reads the settings of a deployment from the environment variables that infra/stack/lambda.ts sets. A function has only the
 * variables it needs. Reading an absent one throws an error with its name.
 */
import { parseSpaceNamespace } from '../../access/scopes/space.ts'
import { withoutTrailingSlashes } from '../../engine/meta/value/slashes.ts'
import { checkVariable, type Environment, type Form, matching, requiredText } from './environment.ts'
import { lazy } from './lazy.ts'
import { defaults, forms, LEAST_IDLE_SECONDS } from './variables.ts'

/** A setting, and the forms of the variables that it is read from. */
interface Setting<T> {
  variables: Readonly<Record<string, Form>>
  read(environment: Environment): T
}

/** Returns a setting that is read from the text of a variable, or from undefined. */
const from = <T>(name: string, form: Form, read: (text: string | undefined) => T): Setting<T> => ({
  variables: { [name]: form },
  read: (environment) => read(environment[name]),
})

/** Returns the text of a variable that no function can do without. */
const text = (name: string, form?: Form): Setting<string> => ({
  variables: form ? { [name]: form } : {},
  read: (environment) => requiredText(environment, name),
})

/** The variables with a default of the type. */
type NameOf<T> = {
  [Name in keyof typeof defaults]: (typeof defaults)[Name] extends T ? Name : never
}[keyof typeof defaults]

/** Returns a number. An empty value counts as absent. */
const count = (name: NameOf<number>, unit: string): Setting<number> =>
  from(name, matching(/^\d{0,10}$/, `a number of ${unit}`), (digits) => (digits ? Number(digits) : defaults[name]))

const seconds = (name: NameOf<number>) => count(name, 'seconds')

const flag = (name: NameOf<boolean>): Setting<boolean> =>
  from(name, matching(/^(true|false)?$/, 'true or false'), (word) => (word ? word === 'true' : defaults[name]))

/** Returns the form of a variable, which may be empty if it is `optional`. */
function formOf(name: keyof typeof forms, optional?: 'optional'): Form {
  const [pattern, form] = forms[name]
  return { accepts: (value) => pattern.test(value) || (optional !== undefined && value === ''), form }
}

/** URLs and paths may be given with slashes at their end. */
const trimmed = ({ accepts, form }: Form): Form => ({
  accepts: (value) => accepts(withoutTrailingSlashes(value)),
  form,
})

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
    scopes: CONSOLE_SCOPES || defaults.CONSOLE_SCOPES,
    origins: CONSOLE_ORIGINS ? CONSOLE_ORIGINS.split(',') : [],
  }
}

const keyIds = (value: string): string[] =>
  value
    .split(',')
    .map((id) => id.trim())
    .filter((id) => id !== '')

function isSpaceNamespace(value: string): boolean {
  try {
    parseSpaceNamespace(value)
    return true
  } catch {
    return false
  }
}

const longest = seconds('MAX_WATCH_SECONDS')
const quiet = seconds('QUIET_WATCH_SECONDS')

const settings = {
  /** Path of the API below the host, without a trailing slash. */
  basePath: from(
    'BASE_PATH',
    trimmed(matching(/^(\/[\w~-][\w.~-]*)+$/, 'a path such as /kubernetes/management')),
    (path = '/kubernetes/management') => withoutTrailingSlashes(path),
  ),
  stage: text('STAGE', formOf('STAGE')),
  /** Issuer (`iss`) of tokens: an https URL without a trailing slash. */
  issuer: {
    variables: { ISSUER: trimmed(formOf('ISSUER')) },
    read: (environment: Environment) => withoutTrailingSlashes(requiredText(environment, 'ISSUER')),
  },
  /** Where clients reach the API: an https URL without a trailing slash. By default the issuer. */
  apiUrl: {
    variables: { API_URL: trimmed(formOf('ISSUER')) },
    read: (environment: Environment) =>
      withoutTrailingSlashes(environment.API_URL ?? requiredText(environment, 'ISSUER')),
  },
  /** ID of the secret with the peppers of the key hashes. */
  pepperSecretId: text('PEPPER_SECRET_ID', matching(/^[\w/+=.@:-]+$/, 'the name or ARN of a secret')),
  /** ID of the secret with the first access key. Only bootstrap has it. */
  accessKeySecretId: text('ACCESS_KEY_SECRET_ID', matching(/^[\w/+=.@:-]+$/, 'the name or ARN of a secret')),
  /** IDs of the KMS keys for tokens: the first key signs, and all keys are published. */
  signingKeyIds: {
    variables: {
      SIGNING_KEY_IDS: {
        accepts: (value: string) => keyIds(value).length > 0 && keyIds(value).every((id) => /^[\w/:-]*$/.test(id)),
        form: 'ids of KMS keys, separated by commas',
      },
    },
    read: (environment: Environment): readonly string[] => keyIds(requiredText(environment, 'SIGNING_KEY_IDS')),
  },
  /** Name prefix of the secrets with credentials of virtual clusters. Ends with a slash. */
  virtualClusterSecretsPrefix: text(
    'VIRTUAL_CLUSTER_SECRETS_PREFIX',
    matching(/^[\w/+=.@-]+\/$/, 'the beginning of names of secrets, ending with a slash'),
  ),
  /** The same of connected clusters. */
  clusterSecretsPrefix: text(
    'CLUSTER_SECRETS_PREFIX',
    matching(/^[\w/+=.@-]+\/$/, 'the beginning of names of secrets, ending with a slash'),
  ),
  /** The role that access entries of clusters of EKS name. The local server has none. */
  clustersRoleArn: from(
    'CLUSTERS_ROLE_ARN',
    matching(/^(arn:aws[a-z-]*:iam::\d+:role\/[\w+=,.@/-]+)?$/, 'the ARN of a role'),
    (arn) => arn || undefined,
  ),
  /** The name of the function that removes bound Secrets. Without it, only its schedule invokes it. */
  secretsFunction: from(
    'SECRETS_FUNCTION',
    matching(/^[\w-]*$/, 'the name of a function'),
    (name) => name || undefined,
  ),
  /** The objects of a project are in the namespace PREFIX + PROJECT. */
  projectNamespacePrefix: from(
    'PROJECT_NAMESPACE_PREFIX',
    formOf('PROJECT_NAMESPACE_PREFIX'),
    (prefix = defaults.PROJECT_NAMESPACE_PREFIX) => prefix,
  ),
  /** Which namespaces of connected clusters are the spaces of projects: see `parseSpaceNamespace`. */
  spaceNamespace: from(
    'SPACE_NAMESPACE',
    { accepts: isSpaceNamespace, form: 'a DNS label such as p-{project}-s-{space}' },
    (pattern = defaults.SPACE_NAMESPACE) => pattern,
  ),
  /** Maximum lifetime of access keys in seconds. 0 means no limit. It also applies to existing keys. */
  maxKeyTtlSeconds: seconds('MAX_KEY_TTL_SECONDS'),
  /** After how many seconds without a use access keys end. 0 means never. */
  maxIdleSeconds: from(
    'MAX_IDLE_SECONDS',
    {
      accepts: (digits) => /^\d{0,10}$/.test(digits) && (Number(digits) === 0 || Number(digits) >= LEAST_IDLE_SECONDS),
      form: `0, or at least ${LEAST_IDLE_SECONDS} seconds`,
    },
    (digits) => Number(digits || defaults.MAX_IDLE_SECONDS),
  ),
  maxTokenTtlSeconds: seconds('MAX_TOKEN_TTL_SECONDS'),
  /** 0 means no limit: the virtual cluster decides. */
  maxCertificateTtlSeconds: seconds('MAX_CERTIFICATE_TTL_SECONDS'),
  /** How long expired keys are retained, in seconds. */
  keyRetentionSeconds: seconds('KEY_RETENTION_SECONDS'),
  /** The same for keys that an exchange made. */
  federatedKeyRetentionSeconds: seconds('FEDERATED_KEY_RETENTION_SECONDS'),
  /**
   * ID tokens issued before this time (Unix seconds) are rejected. 0 means none are. A deployment that has lost its table
   * has also lost the records of which tokens were exchanged.
   */
  rejectIdTokensBefore: from('REJECT_ID_TOKENS_BEFORE', matching(/^\d{0,12}$/, 'a Unix time in seconds'), (digits) =>
    Number(digits || defaults.REJECT_ID_TOKENS_BEFORE),
  ),
  /** The longest time of a watch, and after how long without an event it ends. A quiet time of 0 means no limit. */
  watchLimits: {
    variables: { ...longest.variables, ...quiet.variables },
    read: (environment: Environment) => ({
      maxSeconds: longest.read(environment),
      quietSeconds: quiet.read(environment),
    }),
  },
  /** Maximum number of open watches per access key. 0 means no limit. */
  watchesPerKey: count('WATCHES_PER_KEY', 'watches'),
  /** Whether uses of access keys record the address and the user agent. */
  recordSources: flag('RECORD_SOURCES'),
  /** Whether what access keys do is recorded. */
  recordUsage: flag('RECORD_USAGE'),
  /** Whether functions compress large streamed responses. */
  compressStreams: flag('COMPRESS_STREAMS'),
  /** Maximum number of access keys for each user, team or subject. 0 means no limit. */
  maxKeysPerOwner: count('MAX_KEYS_PER_OWNER', 'access keys'),
  /** Maximum lifetime of an access key that an exchange makes, in seconds. */
  maxExchangeTtlSeconds: seconds('MAX_EXCHANGE_TTL_SECONDS'),
  /** Whether issuers of identity providers may be at private addresses. */
  allowPrivateIssuers: flag('ALLOW_PRIVATE_ISSUERS'),
  /** The event bus for events about access keys: its name or ARN, or `none`. */
  eventBus: text('EVENT_BUS'),
  /** Effect of a report of a leaked access key: `disable` ends the key, `report` only publishes an event. */
  onLeak: from('ON_LEAK', matching(/^(disable|report)?$/, 'disable or report'), (word): 'disable' | 'report' =>
    word === 'report' ? 'report' : defaults.ON_LEAK,
  ),
  /** How people sign in to the console with an identity provider; undefined: they cannot. */
  consoleSignIn: {
    variables: {
      CONSOLE_ISSUER: formOf('CONSOLE_ISSUER', 'optional'),
      CONSOLE_CLIENT_ID: formOf('CONSOLE_CLIENT_ID', 'optional'),
      CONSOLE_CREDENTIAL: formOf('CONSOLE_CREDENTIAL', 'optional'),
      CONSOLE_SCOPES: formOf('CONSOLE_SCOPES', 'optional'),
      CONSOLE_ORIGINS: formOf('CONSOLE_ORIGINS', 'optional'),
    },
    read: readConsoleSignIn,
  },
} satisfies Record<string, Setting<unknown>>

type Settings = typeof settings
export type Config = { readonly [K in keyof Settings]: Settings[K] extends Setting<infer T> ? T : never }

/**
 * Returns the settings. Throws if a variable has an invalid value. Each setting is read on its first access, so that a
 * function without a variable fails only if it needs it.
 */
export function readConfig(environment: Environment): Config {
  const all: [string, Setting<unknown>][] = Object.entries(settings)
  for (const [, { variables }] of all) {
    for (const [name, form] of Object.entries(variables)) checkVariable(environment, name, form)
  }
  const getters = all.map(([name, { read }]) => [name, { get: lazy(() => read(environment)), enumerable: true }])
  return Object.defineProperties({} as Config, Object.fromEntries(getters))
}
