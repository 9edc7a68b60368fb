/**
 * The variables of functions that are settings of a deployment: the forms of their texts, and what an absent one means. The
 * table of settings (infra/settings/) takes both from here, so that functions load nothing else of it.
 *
 * The defaults also serve a function whose new code runs for a moment with the variables of the release before.
 */
import { DAY_SECONDS } from '../../engine/meta/value/durations.ts'

export const defaults = {
  PROJECT_NAMESPACE_PREFIX: 'p-',
  SPACE_NAMESPACE: 'p-{project}-s-{space}',
  MAX_KEY_TTL_SECONDS: 0,
  MAX_IDLE_SECONDS: 0,
  MAX_TOKEN_TTL_SECONDS: 30 * DAY_SECONDS,
  MAX_CERTIFICATE_TTL_SECONDS: 0,
  MAX_EXCHANGE_TTL_SECONDS: DAY_SECONDS / 2,
  KEY_RETENTION_SECONDS: 7 * DAY_SECONDS,
  FEDERATED_KEY_RETENTION_SECONDS: DAY_SECONDS,
  REJECT_ID_TOKENS_BEFORE: 0,
  MAX_KEYS_PER_OWNER: 1000,
  MAX_WATCH_SECONDS: 120,
  QUIET_WATCH_SECONDS: 0,
  WATCHES_PER_KEY: 100,
  RECORD_SOURCES: true,
  RECORD_USAGE: true,
  COMPRESS_STREAMS: true,
  ALLOW_PRIVATE_ISSUERS: false,
  ON_LEAK: 'disable',
  CONSOLE_SCOPES: 'openid email profile',
} as const

/** The least time after which a key that nobody uses may end. */
export const LEAST_IDLE_SECONDS = 7 * DAY_SECONDS

const HTTPS_URL = 'an https URL without query and fragment'

/** The patterns of texts, each with a description of the values that it matches, after `must be`. */
export const forms = {
  // The stage is part of the names of all resources. Lambda is strictest: the longest function name,
  // keyplane-STAGE-virtualclusterinstances-kubeconfig-create, may have at most 64 characters.
  STAGE: [/^[a-z][a-z0-9]{0,12}$/, '1 to 13 lower-case letters and digits, starting with a letter'],
  // Token verifiers compare the issuer byte for byte: no trailing slash, query or fragment.
  ISSUER: [/^https:\/\/[^/?#\s]+(\/[^/?#\s]+)*$/, HTTPS_URL],
  PROJECT_NAMESPACE_PREFIX: [
    /^[a-z0-9][-a-z0-9]{0,30}$/,
    '1 to 31 lower-case letters, digits and hyphens, not starting with a hyphen',
  ],
  // These become part of the page of the console and of its policy.
  CONSOLE_ISSUER: [/^https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(\/[^/?#\s]+)*\/?$/, HTTPS_URL],
  CONSOLE_CLIENT_ID: [/^[!-~]{1,256}$/, 'the ID of a client'],
  CONSOLE_CREDENTIAL: [
    /^[a-z0-9][-a-z0-9.]{0,252}@[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    'NAME@UID of a federated identity credential',
  ],
  CONSOLE_SCOPES: [/^[!#-\x5b\x5d-~]{1,64}( [!#-\x5b\x5d-~]{1,64}){0,15}$/, 'scopes, separated by spaces'],
  CONSOLE_ORIGINS: [
    /^https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?(,https:\/\/[A-Za-z0-9.-]+(:\d{1,5})?){0,7}$/,
    'https origins, separated by commas',
  ],
} as const satisfies Record<string, readonly [RegExp, string]>
