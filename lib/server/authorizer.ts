/**
 * The REQUEST authorizer: who asks, and whether the scope chain leaves them that. It fails closed: an unknown key is
 * Unauthorized, a chain that does not allow the request is a Deny, anything broken is an error of the gateway.
 */
import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from 'aws-lambda'
import { VirtualClusterInstance } from '../apis/management/v1/virtualclusterinstance.ts'
import { authenticate } from '../authentication/authenticate.ts'
import { bearerToken } from '../authentication/bearertoken.ts'
import { encodeUser } from '../authentication/context.ts'
import type { UserInfo } from '../authentication/user.ts'
import type { Attributes } from '../authorization/attributes.ts'
import { evaluate } from '../authorization/evaluate.ts'
import { forbiddenFor } from '../authorization/forbidden.ts'
import { requestAttributes } from '../authorization/requestattributes.ts'
import { StatusError } from '../meta/errors.ts'
import { stringify } from '../meta/json.ts'
import { authenticationDeps } from './authentication.ts'
import type { AuthorizerContext } from './context.ts'
import { describeError } from './log.ts'
import { createServer, type Server } from './services.ts'

/** The text by which API Gateway knows a 401. */
class Unauthorized extends Error {
  constructor() {
    super('Unauthorized')
  }
}

/** Resource `*`: with a result TTL of 0 the policy is for this request only. */
const policy = (
  effect: 'Allow' | 'Deny',
  principalId: string,
  context: Record<string, string>,
): APIGatewayAuthorizerResult => ({
  principalId,
  policyDocument: {
    Version: '2012-10-17',
    Statement: [{ Action: 'execute-api:Invoke', Effect: effect, Resource: '*' }],
  },
  context,
})

const allow = (principalId: string, context: AuthorizerContext): APIGatewayAuthorizerResult =>
  policy('Allow', principalId, { ...context })

function authorizationHeaders(event: APIGatewayRequestAuthorizerEvent): string[] | undefined {
  const name = Object.keys(event.multiValueHeaders ?? {}).find((one) => one.toLowerCase() === 'authorization')
  return name === undefined ? undefined : event.multiValueHeaders?.[name]
}

/** The attributes of the request, or the 400 of a path that could be taken for another. */
function attributesOf(event: APIGatewayRequestAuthorizerEvent, server: Server): Attributes | { problem: string } {
  try {
    return requestAttributes(event, {
      basePath: server.config.basePath,
      namespaced: new Set([VirtualClusterInstance.plural]),
    })
  } catch (error) {
    if (error instanceof StatusError) return { problem: error.message }
    throw error
  }
}

function deny(attributes: Attributes, user: UserInfo): APIGatewayAuthorizerResult {
  return policy('Deny', user.name, { status: stringify(forbiddenFor(attributes, user).status) })
}

async function authorize(event: APIGatewayRequestAuthorizerEvent, server: Server): Promise<APIGatewayAuthorizerResult> {
  const { requestId } = event.requestContext
  const touchFailed = (error: unknown) =>
    server.log('error', 'last activity not written', { requestId, error: describeError(error) })
  const result = await authenticate(bearerToken(authorizationHeaders(event)), authenticationDeps(server, touchFailed))
  if ('unknown' in result) throw new Unauthorized()
  if ('dead' in result) return allow(result.key.name, { unauthorized: result.dead })
  const { user, touch } = result
  const attributes = attributesOf(event, server)
  if ('problem' in attributes) return allow(user.name, { badRequest: attributes.problem })
  const decision = evaluate(user.chain, attributes, server.scopes)
  server.log('info', 'authorization', {
    requestId: event.requestContext.requestId,
    user: user.name,
    key: user.key.name,
    verb: attributes.verb,
    ...(attributes.kind === 'resource'
      ? { resource: attributes.resource, namespace: attributes.namespace, name: attributes.name }
      : { path: attributes.path }),
    allowed: decision.allowed,
    reason: decision.reason,
  })
  if (!decision.allowed) return deny(attributes, user)
  await touch()
  return allow(user.name, { user: encodeUser(user) })
}

/** The authorizer's Lambda handler. */
export function authorizer() {
  const server = createServer(process.env)
  return async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
    try {
      return await authorize(event, server)
    } catch (error) {
      if (!(error instanceof Unauthorized)) {
        server.log('error', 'authorizer failed', {
          requestId: event.requestContext.requestId,
          error: describeError(error),
        })
      }
      throw error
    }
  }
}
