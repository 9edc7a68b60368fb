/** Evaluates the IAM policy that an authorizer returns. Source: AWS IAM policy evaluation logic. */
import { isObject } from '../../../lib/engine/meta/value/walk.ts'

interface Statement {
  Effect: string
  Action: string | readonly string[]
  Resource: string | readonly string[]
}

/** Thrown for a document that API Gateway would refuse, or that contains an unsupported element. */
class PolicyError extends Error {
  override name = 'PolicyError'
}

export type PolicyDecision = 'allow' | 'explicit deny' | 'implicit deny'

/** Reports whether the policy allows `execute-api:Invoke` on `methodArn`. A matching Deny wins; the default is to deny. */
export function evaluatePolicy(document: unknown, methodArn: string): PolicyDecision {
  const effects = new Set(
    statementsOf(document)
      .filter(({ Action }) => [Action].flat().some((one) => matchesWildcards(one.toLowerCase(), 'execute-api:invoke')))
      .filter(({ Resource }) => [Resource].flat().some((one) => matchesWildcards(one, methodArn)))
      .map(({ Effect }) => Effect),
  )
  if (effects.has('Deny')) return 'explicit deny'
  return effects.has('Allow') ? 'allow' : 'implicit deny'
}

const elements = new Set(['Sid', 'Effect', 'Action', 'Resource'])

function statementsOf(document: unknown): Statement[] {
  const statements = isObject(document) ? [document.Statement].flat() : []
  if (statements.length === 0) throw new PolicyError('a policy needs a statement')
  return statements.map((statement) => {
    if (!isObject(statement)) throw new PolicyError('a statement must be an object')
    const unknown = Object.keys(statement).find((element) => !elements.has(element))
    if (unknown !== undefined) throw new PolicyError(`${unknown} in a statement is not supported`)
    const { Effect, Action, Resource } = statement
    if (Effect !== 'Allow' && Effect !== 'Deny') throw new PolicyError('Effect must be Allow or Deny')
    if (!isStrings(Action) || !isStrings(Resource)) throw new PolicyError('a statement needs Action and Resource')
    // "The maximum length of an ARN in a policy of an authorizer": Amazon API Gateway quotas.
    if ([Resource].flat().some((one) => one.length > 512)) throw new PolicyError('a Resource is over 512 characters')
    return { Effect, Action, Resource }
  })
}

const isStrings = (value: unknown): value is string | readonly string[] =>
  [value].flat().length > 0 && [value].flat().every((one) => typeof one === 'string')

/** `*` matches any characters, `?` exactly one. */
function matchesWildcards(pattern: string, text: string): boolean {
  if (!/[*?]/.test(pattern)) return pattern === text
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`, 's').test(text)
}
