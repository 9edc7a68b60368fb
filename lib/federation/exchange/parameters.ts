/** Reads the parameters of an exchange (RFC 8693 section 2.1). Reads nothing from the store. */
import type { Scope } from '../../access/scopes/scope.ts'
import { TOKEN_EXCHANGE } from '../../clusters/token/jwks.ts'
import { KEY_PREFIX } from '../../engine/meta/value/credentialformat.ts'
import { type Form, withoutLineBreak } from '../oauth/form.ts'
import { malformed, OAuthError } from '../oauth/oautherror.ts'
import { parseRequestedScope } from './requestedscope.ts'
import { NAMED_CLUSTERS, readTargets, type TargetSettings, type Targets } from './target.ts'

export const ACCESS_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:access_token'
export const JWT_TYPE = 'urn:ietf:params:oauth:token-type:jwt'
const ID_TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:id_token'

export interface ExchangeParameters {
  /** The name and uid of the FederatedIdentityCredential. */
  client: { name: string; uid: string }
  subjectToken: string
  /** The scope that the client asks for, parsed and as it was sent. */
  scope?: { parsed: Scope; text: string }
  /** The clusters and virtual clusters for which tokens are asked for. Without one, it is an access key. */
  targets: Targets
  /** Checks everything, and writes nothing. */
  isDryRun: boolean
}

/** Throws the error of RFC 8693 or RFC 6749 for parameters that are missing, unknown or not supported. */
export function readParameters(form: Form, settings: TargetSettings): ExchangeParameters {
  const grantType = required(form, 'grant_type')
  if (grantType !== TOKEN_EXCHANGE)
    throw new OAuthError('unsupported_grant_type', 'malformed', `grant_type must be ${TOKEN_EXCHANGE}`)
  refuseUnsupported(form)
  const client = readClient(required(form, 'client_id'))
  const subjectToken = readSubjectToken(form)
  const targets = readTargets(form, settings)
  const answered = isForTargets(targets) ? JWT_TYPE : ACCESS_TOKEN_TYPE
  if ((form.get('requested_token_type') ?? answered) !== answered)
    throw malformed(
      `requested_token_type must be ${answered} ${isForTargets(targets) ? 'with' : 'without'} audience or resource`,
    )
  const text = form.get('scope')
  return {
    client,
    subjectToken,
    ...(text !== undefined && { scope: { parsed: parseRequestedScope(text), text } }),
    targets,
    isDryRun: readFlag(form, 'dry_run'),
  }
}

/** Reports whether an exchange answers tokens of clusters. */
export const isForTargets = (targets: Targets): boolean => targets.length > 0

/** Reports whether an exchange may answer several tokens: only a kube config has room for them. */
export const mayBeSeveral = (targets: Targets): boolean => targets === NAMED_CLUSTERS || targets.length > 1

function required(form: Form, name: string): string {
  const value = form.get(name)
  if (value === undefined) throw malformed(`the parameter ${name} is missing or empty`)
  return value
}

const secrets = ['client_secret', 'client_assertion', 'client_assertion_type']
const actors = ['actor_token', 'actor_token_type']

function refuseUnsupported(form: Form): void {
  const given = (names: readonly string[]) => names.find((name) => form.has(name))
  const secret = given(secrets)
  if (secret !== undefined) throw malformed(`${secret} is not supported: the client is public and has no secret`)
  const actor = given(actors)
  if (actor !== undefined) throw malformed(`${actor} is not supported: delegation is not supported`)
}

const CLIENT_ID = /^([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)@([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
/** The Kubernetes limit for names. */
const maxNameLength = 253

function readClient(text: string): ExchangeParameters['client'] {
  const [, name = '', uid = ''] = text.length > 2 * maxNameLength ? [] : (CLIENT_ID.exec(text) ?? [])
  if (name === '' || name.length > maxNameLength)
    throw malformed('client_id must be NAME@UID of a FederatedIdentityCredential, which is its status.clientID')
  return { name, uid }
}

function readSubjectToken(form: Form): string {
  const token = withoutLineBreak(required(form, 'subject_token'))
  const type = required(form, 'subject_token_type')
  if (type !== JWT_TYPE && type !== ID_TOKEN_TYPE)
    throw malformed(`subject_token_type must be ${JWT_TYPE} or ${ID_TOKEN_TYPE}`)
  if (token.startsWith(KEY_PREFIX)) throw malformed('the subject token is an access key, not an ID token of an issuer')
  return token
}

function readFlag(form: Form, name: string): boolean {
  const value = form.get(name) ?? 'false'
  if (value !== 'true' && value !== 'false') throw malformed(`${name} must be true or false`)
  return value === 'true'
}
