/** Defines DirectClusterEndpointToken, a token for direct access to connected clusters. Specification section 2.4. */
import { ruleWarnings } from '../access/scopes/replaceablerules.ts'
import { type Scope, scopeSchema } from '../access/scopes/scope.ts'
import { validateScope } from '../access/scopes/validatescope.ts'
import { timeOfIssue } from '../access/users/ends.ts'
import { unlimitedCredential } from '../access/users/sourcecidrs.ts'
import { rfc3339OfUnix } from '../engine/meta/encoding/time.ts'
import { checkDeadline } from '../engine/meta/errors/deadline.ts'
import { invalidObject } from '../engine/meta/errors/status.ts'
import { int64, object, string, time } from '../engine/meta/schema/schema.ts'
import type { IssuedCredential, VirtualKind } from '../engine/registry/kind.ts'
import { KINDS } from '../kinds.ts'
import type { ClusterServices } from './services.ts'
import { issueToken, prepareClusterToken, signatureWarnings } from './token/issuer.ts'

const { group, kind } = KINDS.DirectClusterEndpointToken

export const DirectClusterEndpointToken: VirtualKind<ClusterServices> = {
  ...KINDS.DirectClusterEndpointToken,
  description: 'A token for direct access to a connected cluster. The server returns it once and does not store it.',
  grantsAccess: true,
  schema: {
    spec: object('The requested token.', {
      ttl: int64('Time to live of the token in seconds. 0 or absent means the default of one day.', { minimum: 0 }),
      scope: scopeSchema,
    }),
    status: object('The issued token.', {
      token: string('The issued token, a signed JWT.'),
      expirationTimestamp: time('Time when the token expires.'),
    }),
  },
  async create({ object: request, context }, services) {
    const { tokens } = services
    const { ttl, scope } = (request.spec ?? {}) as { ttl?: number; scope?: Scope }
    const { user, dryRun, deadline } = context
    const now = dryRun ? context.now : await timeOfIssue(user.key.lastEnd, context.now, services.sleep)
    const prepared = prepareClusterToken(
      { user, now, ...(ttl !== undefined && { ttl }), ...(scope && { scope }) },
      tokens.settings,
    )
    const errors = [...validateScope(scope), ...('errors' in prepared ? prepared.errors : [])]
    if ('errors' in prepared || errors.length > 0) {
      throw invalidObject(group, kind, request.metadata.name ?? '', errors)
    }
    const ofRules = ruleWarnings(scope, services.scopes)
    const ofSignature = await signatureWarnings(tokens.signer)
    for (const warning of [...ofRules, ...prepared.warnings, ...ofSignature, ...unlimitedCredential(user, 'token')])
      context.warn(warning)
    const { aud, exp, jti } = prepared.claims
    const expirationTimestamp = rfc3339OfUnix(exp)
    context.note('credential', 'token')
    context.note('audiences', aud)
    context.note('expires', expirationTimestamp)
    if (dryRun) return { ...request, status: { expirationTimestamp } }
    checkDeadline(deadline)
    // Record the ID before signing: otherwise a token could exist whose ID is in no audit record.
    context.note('jti', jti)
    const { token } = await issueToken(prepared, tokens.signer)
    return { ...request, status: { token, expirationTimestamp } }
  },
  credential: ({ status }) => status as IssuedCredential,
}
