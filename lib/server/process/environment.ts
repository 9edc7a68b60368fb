/**
 * Validates the environment variables of a function when it starts. An empty or invalid prefix would widen scopes, and a
 * wrong path or URL would appear only in responses.
 */
import { parseSpaceNamespace } from '../../authorization/scopes/space.ts'
import { withoutTrailingSlashes } from '../../meta/value/slashes.ts'

export type Environment = Readonly<Record<string, string | undefined>>

interface Form {
  accepts(value: string): boolean
  /** Description of valid values, for the error message. */
  form: string
}

const matching = (pattern: RegExp, form: string): Form => ({ accepts: (value) => pattern.test(value), form })

const url = /^https:\/\/[^/?#\s]+(\/[^/?#\s]+)*$/
const path = /^(\/[\w~-][\w.~-]*)+$/

/** Accepts a number. An empty value counts as absent. */
const numberOf = (unit: string): Form => matching(/^\d{0,10}$/, `a number of ${unit}`)
const seconds = numberOf('seconds')
const flag = matching(/^(true|false)?$/, 'true or false')

/** The formats of deployment settings match those in infra/plugins/settings.cjs. */
const forms: Readonly<Record<string, Form>> = {
  BASE_PATH: {
    accepts: (value) => path.test(withoutTrailingSlashes(value)),
    form: 'a path such as /kubernetes/management',
  },
  STAGE: matching(/^[a-z][a-z0-9]{0,12}$/, '1 to 13 lower-case letters and digits, the first one a letter'),
  ISSUER: {
    accepts: (value) => url.test(withoutTrailingSlashes(value)),
    form: 'an https URL without query and fragment',
  },
  API_URL: {
    accepts: (value) => url.test(withoutTrailingSlashes(value)),
    form: 'an https URL without query and fragment',
  },
  PEPPER_SECRET_ID: matching(/^[\w/+=.@:-]+$/, 'the name or ARN of a secret'),
  ACCESS_KEY_SECRET_ID: matching(/^[\w/+=.@:-]+$/, 'the name or ARN of a secret'),
  SIGNING_KEY_IDS: { accepts: areKeyIds, form: 'ids of KMS keys, separated by commas' },
  VIRTUAL_CLUSTER_SECRETS_PREFIX: matching(/^[\w/+=.@-]+\/$/, 'the beginning of names of secrets, ending with a slash'),
  PROJECT_NAMESPACE_PREFIX: matching(
    /^[a-z0-9][-a-z0-9]{0,30}$/,
    '1 to 31 lower-case letters, digits and hyphens, the first one no hyphen',
  ),
  SPACE_NAMESPACE: { accepts: isSpaceNamespace, form: 'a DNS label such as p-{project}-s-{space}' },
  MAX_KEY_TTL_SECONDS: seconds,
  MAX_TOKEN_TTL_SECONDS: seconds,
  MAX_CERTIFICATE_TTL_SECONDS: seconds,
  KEY_RETENTION_SECONDS: seconds,
  FEDERATED_KEY_RETENTION_SECONDS: seconds,
  REJECT_ID_TOKENS_BEFORE: matching(/^\d{0,12}$/, 'a Unix time in seconds'),
  MAX_WATCH_SECONDS: seconds,
  QUIET_WATCH_SECONDS: seconds,
  WATCHES_PER_KEY: numberOf('watches'),
  COMPRESS_STREAMS: flag,
  RECORD_SOURCES: flag,
  MAX_KEYS_PER_OWNER: numberOf('access keys'),
  MAX_EXCHANGE_TTL_SECONDS: seconds,
  ALLOW_PRIVATE_ISSUERS: flag,
  ON_LEAK: matching(/^(disable|report)?$/, 'disable or report'),
  LEAK_KEYS_URL: matching(url, 'an https URL without query and fragment'),
  CONSOLE_ISSUER: matching(
    /^(https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(\/[^/?#\s]+)*\/?)?$/,
    'an https URL without query and fragment',
  ),
  CONSOLE_CLIENT_ID: matching(/^[!-~]{0,256}$/, 'the ID of a client'),
  CONSOLE_CREDENTIAL: matching(
    /^([a-z0-9][-a-z0-9.]{0,252}@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$/,
    'NAME@UID of a federated identity credential',
  ),
  CONSOLE_SCOPES: matching(/^([!#-[\]-~]{1,64}( [!#-[\]-~]{1,64}){0,15})?$/, 'scopes, separated by spaces'),
  CONSOLE_ORIGINS: matching(
    /^(https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(,(?=h)|$)){0,8}$/,
    'https origins, separated by commas',
  ),
}

function areKeyIds(value: string): boolean {
  const ids = value.split(',').map((id) => id.trim())
  return ids.some((id) => id !== '') && ids.every((id) => /^[\w/:-]*$/.test(id))
}

function isSpaceNamespace(value: string): boolean {
  try {
    parseSpaceNamespace(value)
    return true
  } catch {
    return false
  }
}

/** Throws if a variable has an invalid value. */
export function checkEnvironment(environment: Environment): void {
  for (const [name, form] of Object.entries(forms)) checkVariable(environment, name, form)
}

/** Throws if the variable has an invalid value. The error omits the value, which may be a secret under the wrong name. */
export function checkVariable(environment: Environment, name: string, { accepts, form }: Form): void {
  const value = environment[name]
  if (value !== undefined && !accepts(value)) throw new Error(`environment variable ${name} must be ${form}`)
}

export function requiredText(environment: Environment, name: string): string {
  const value = environment[name]
  if (!value) throw new Error(`environment variable ${name} is not set`)
  return value
}
