/** Evaluates requests in a space, wherever it exists: the namespace of that space in every connected cluster. */
import type { Attributes, Decision, ResourceAttributes } from '../attributes/attributes.ts'
import { evaluateAny } from './evaluate.ts'
import { evaluateAt } from './place.ts'
import type { ScopeOptions } from './project.ts'
import type { ScopeChain } from './scope.ts'
import { type SpaceOptions, spaceOf } from './space.ts'

/** Stands for every connected cluster. It is not a valid name of one. */
const ANY_CLUSTER = 'any/cluster'

/** Returns the namespace of a space, or undefined when the two names do not make one. */
export function namespaceOf(named: { project: string; space: string }, options: SpaceOptions): string | undefined {
  const { prefix, separator, suffix } = options.spaceNamespace
  const namespace = `${prefix}${named.project}${separator}${named.space}${suffix}`
  const found = spaceOf(namespace, options)
  return found?.project === named.project && found.space === named.space ? namespace : undefined
}

/**
 * Decides whether the chain allows a request whose namespace and target are those of a space. Each scope may allow it to
 * every cluster, or to the space.
 */
export function evaluateInSpace(
  chain: ScopeChain,
  attributes: ResourceAttributes,
  options: ScopeOptions & SpaceOptions,
): Decision {
  const decision = evaluateAt(chain, { type: 'cluster', name: ANY_CLUSTER }, attributes, options)
  if (decision.allowed) return decision
  // The reason describes the first reading: the space.
  const whole: Attributes = { ...attributes, target: { type: 'Cluster', cluster: ANY_CLUSTER } }
  const described = evaluateAny(chain, [attributes, whole], options)
  return described.allowed ? decision : described
}
