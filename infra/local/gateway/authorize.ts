/** Runs the REQUEST authorizer of a route and applies its policy. */
import { authorizerEvent, type RequestEvent } from './events.ts'
import { FunctionError, type Lambda } from './lambda.ts'
import { evaluatePolicy } from './policy.ts'
import type { ResponseType } from './responses.ts'

export type Authorization =
  /** Becomes `requestContext.authorizer` of the integration's event. */
  | { allowed: true; authorizer: Record<string, string | number> }
  /** `authorizer` is available to the gateway response; `cause` is set when the authorizer itself failed. */
  | { allowed: false; type: ResponseType; authorizer: Record<string, string | number>; cause?: unknown }

/** Never throws: denies the request when the authorizer fails or returns an invalid response. */
export async function authorize(
  lambda: Lambda,
  functionId: string,
  event: RequestEvent,
  methodArn: string,
): Promise<Authorization> {
  const begin = performance.now()
  const refuse = (type: ResponseType, cause: unknown) => ({ allowed: false, type, authorizer: {}, cause }) as const
  let answer: unknown
  try {
    answer = await lambda.invoke(functionId, authorizerEvent(event, methodArn))
  } catch (error) {
    if (isUnauthorized(error)) return { allowed: false, type: 'UNAUTHORIZED', authorizer: {} }
    return refuse('AUTHORIZER_FAILURE', error)
  }
  try {
    const { principalId, policyDocument, context } = parseAnswer(answer)
    const decision = evaluatePolicy(policyDocument, methodArn)
    const authorizer = { ...context, principalId }
    if (decision !== 'allow') return { allowed: false, type: 'ACCESS_DENIED', authorizer }
    const integrationLatency = Math.round(performance.now() - begin)
    return { allowed: true, authorizer: { ...authorizer, integrationLatency } }
  } catch (error) {
    return refuse('AUTHORIZER_CONFIGURATION_ERROR', error)
  }
}

/** An authorizer produces a 401 only with an error whose whole message is `Unauthorized`. */
const isUnauthorized = (error: unknown) =>
  error instanceof FunctionError && error.cause instanceof Error && error.cause.message === 'Unauthorized'

function parseAnswer(answer: unknown) {
  const { principalId, policyDocument, context = {} } = (answer ?? {}) as Record<string, unknown>
  if (typeof principalId !== 'string') throw new TypeError('an authorizer must return a principalId')
  if (typeof context !== 'object' || context === null) throw new TypeError('the context must be an object')
  const entries = Object.entries(context).map(([name, value]) => {
    if (!['string', 'number', 'boolean'].includes(typeof value)) {
      throw new TypeError(`context.${name} must be a string, a number or a boolean`)
    }
    return [name, String(value)] as const
  })
  return { principalId, policyDocument, context: Object.fromEntries(entries) }
}
