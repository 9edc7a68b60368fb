/**
 * Builds the 403 for a request that a scope denies. The message names the narrowest scope entry that would allow it.
 */

import { stringify } from '../meta/encoding/json.ts'
import type { StatusError } from '../meta/errors/status.ts'
import type { Attributes, NonResourceAttributes, ResourceAttributes } from './attributes/attributes.ts'
import { forbiddenFor } from './attributes/forbidden.ts'
import { evaluate } from './scopes/evaluate.ts'
import { projectOf, type ScopeOptions } from './scopes/project.ts'
import { SELF_ROTATE } from './scopes/roles.ts'
import type { Scope } from './scopes/scope.ts'
import type { UserInfo } from './users/user.ts'

/** Returns the 403 for a request that the chain denies. `reason` is the reason from `evaluate`. */
export function forbiddenByScope(
  attributes: Attributes,
  user: Pick<UserInfo, 'name' | 'chain' | 'key'>,
  reason: string,
  options: ScopeOptions,
): StatusError {
  const entry = missingEntry(user, attributes, options)
  return forbiddenFor(attributes, user, entry ? `${reason}; ${stringify(entry)} in this scope would allow it` : reason)
}

/**
 * Returns the narrowest single-entry scope that would allow the request if added to the scope that denies it. Returns
 * undefined when several scopes of the chain deny the request, or when no single entry suffices.
 */
export function missingEntry(
  { chain, key }: Pick<UserInfo, 'chain' | 'key'>,
  attributes: Attributes,
  options: ScopeOptions,
): Scope | undefined {
  const refusing = chain.filter((scope) => !evaluate([scope], attributes, options).allowed)
  if (refusing.length !== 1) return undefined
  return candidates(attributes, options).find((scope) => {
    const decision = evaluate([scope], attributes, options)
    return decision.allowed && (!decision.self || isRotationOf(attributes, key.name))
  })
}

/** Reports whether the request rotates the access key of this name. The role selfRotate also allows to read it. */
const isRotationOf = (attributes: Attributes, name: string): boolean =>
  attributes.kind === 'resource' && attributes.subresource === 'rotate' && attributes.name === name

/** Returns single-entry scopes, narrowest first. Rules are deprecated, so they come last. */
function candidates(attributes: Attributes, options: ScopeOptions): Scope[] {
  if (attributes.kind === 'nonresource') return [forPath(attributes)]
  const project = projectOf(attributes.namespace, options)
  const inProject: Scope[] =
    project === undefined
      ? []
      : [
          { virtualClusters: [{ project, virtualCluster: attributes.name }] },
          { roles: [{ role: 'platformCLI', projects: [project] }] },
          { projects: [{ project }] },
        ]
  return [
    ...inProject,
    ...(attributes.verb === 'create' ? [{ roles: [{ role: 'agent' }] }, { roles: [{ role: SELF_ROTATE }] }] : []),
    forResource(attributes),
  ]
}

const forPath = ({ verb, path }: NonResourceAttributes): Scope => ({
  rules: [{ verbs: [verb], nonResourceURLs: [path] }],
})

const forResource = ({ verb, group, resource, subresource, name, namespace }: ResourceAttributes): Scope => ({
  rules: [
    {
      verbs: [verb],
      resources: [{ ...(group && { group }), resources: [subresource ? `${resource}/${subresource}` : resource] }],
      ...(name && { resourceNames: [name] }),
      ...(namespace && { namespaces: [namespace] }),
    },
  ],
})
