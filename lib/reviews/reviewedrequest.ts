/** Reads the request that an access review describes, and where it would be made. */
import { isIP } from 'node:net'
import type { Attributes, Decision } from '../access/attributes/attributes.ts'
import { evaluate } from '../access/scopes/evaluate.ts'
import { evaluateInSpace, namespaceOf } from '../access/scopes/inspace.ts'
import { evaluateAt, type Place, targetOf } from '../access/scopes/place.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import type { ScopeChain } from '../access/scopes/scope.ts'
import type { SpaceOptions } from '../access/scopes/space.ts'
import { type FieldError, forbidden, invalid, required } from '../engine/meta/errors/fielderror.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../engine/meta/object/names.ts'
import type { FromSchema } from '../engine/meta/schema/schema.ts'
import { toAttributes, validateAsked } from './attributes.ts'
import type { spec } from './ownedaccesskeyaccessreview.schema.ts'

export type ReviewSpec = FromSchema<typeof spec>
type Target = NonNullable<ReviewSpec['target']>
type Options = ScopeOptions & SpaceOptions

/** A request that a key would make. */
export interface Asked {
  attributes: Attributes
  /** The cluster that serves it. Absent for this API and for spaces, which are the same in all clusters. */
  place?: Place
  /** Whether this API serves it. Otherwise a cluster does, which asks this API about the scope only. */
  isHere: boolean
  /** Decides the request by a chain of scopes. */
  judge(chain: ScopeChain): Decision
}

/** Returns the errors of a spec that the schema accepts. */
export function validateSpec(asked: ReviewSpec, options: Options): FieldError[] {
  const { resourceAttributes, nonResourceAttributes, target, sourceIP } = asked
  const errors = validateAsked(asked)
  if (resourceAttributes && !resourceAttributes.verb) errors.push(required('spec.resourceAttributes.verb'))
  if (resourceAttributes && !resourceAttributes.resource) errors.push(required('spec.resourceAttributes.resource'))
  if (nonResourceAttributes && !nonResourceAttributes.verb) errors.push(required('spec.nonResourceAttributes.verb'))
  if (nonResourceAttributes && !nonResourceAttributes.path) errors.push(required('spec.nonResourceAttributes.path'))
  if (sourceIP && isIP(sourceIP) === 0) errors.push(invalid('spec.sourceIP', sourceIP, 'must be an IP address'))
  return target ? [...errors, ...validateTarget(target, asked, options)] : errors
}

function validateTarget(target: Target, asked: ReviewSpec, options: Options): FieldError[] {
  const { cluster, virtualCluster, space } = target
  const given = [cluster, virtualCluster, space].filter((one) => one !== undefined)
  if (given.length !== 1) {
    return [invalid('spec.target', { ...target }, 'must have exactly one of cluster, virtualCluster and space')]
  }
  if (cluster !== undefined) return nameErrors('spec.target.cluster', cluster, dnsSubdomainErrors)
  if (virtualCluster) {
    const { project = '', name = '' } = virtualCluster
    return [
      ...nameErrors('spec.target.virtualCluster.project', project, dnsLabelErrors),
      ...nameErrors('spec.target.virtualCluster.name', name, dnsSubdomainErrors),
    ]
  }
  const { project = '', name = '' } = space ?? {}
  const namespace = namespaceOf({ project, space: name }, options)
  if (namespace === undefined) {
    return [invalid('spec.target.space', { project, name }, 'must be the names of a project and a space')]
  }
  const { resourceAttributes } = asked
  if (!resourceAttributes) return [forbidden('spec.nonResourceAttributes', 'a space has no paths')]
  if (!resourceAttributes.namespace || resourceAttributes.namespace === namespace) return []
  const why = `must be empty or the namespace of the space, ${namespace}`
  return [invalid('spec.resourceAttributes.namespace', resourceAttributes.namespace, why)]
}

const nameErrors = (field: string, name: string, check: (name: string) => string[]): FieldError[] =>
  name === '' ? [required(field)] : check(name).map((problem) => invalid(field, name, problem))

/** Returns the request of a valid spec. */
export function readAsked(asked: ReviewSpec, options: Options, pathBelowBase: (path: string) => string): Asked {
  const { target } = asked
  if (target?.space) return inSpace(asked, target.space, options)
  const place = target && placeOf(target, options)
  if (place) {
    const attributes = toAttributes(asked, targetOf(place, options))
    return { attributes, place, isHere: false, judge: (chain) => evaluateAt(chain, place, attributes, options) }
  }
  const one = toAttributes(asked, { type: 'Management' })
  const attributes = one.kind === 'nonresource' ? { ...one, path: pathBelowBase(one.path) } : one
  return { attributes, isHere: true, judge: (chain) => evaluate(chain, attributes, options) }
}

function inSpace(
  asked: ReviewSpec,
  { project = '', name = '' }: NonNullable<Target['space']>,
  options: Options,
): Asked {
  const space = { project, space: name }
  const attributes = toAttributes(asked, { type: 'ProjectSpace', ...space })
  if (attributes.kind === 'nonresource') throw new Error('a space has no paths')
  const placed = { ...attributes, namespace: namespaceOf(space, options) ?? '' }
  return { attributes: placed, isHere: false, judge: (chain) => evaluateInSpace(chain, placed, options) }
}

/** Returns the cluster of a target. The uid of a virtual cluster has no meaning for scopes. */
function placeOf({ cluster, virtualCluster }: Target, { projectNamespacePrefix }: Options): Place | undefined {
  if (cluster !== undefined) return { type: 'cluster', name: cluster }
  if (!virtualCluster) return undefined
  const { project = '', name = '' } = virtualCluster
  return { type: 'virtualCluster', namespace: projectNamespacePrefix + project, name, uid: '' }
}
