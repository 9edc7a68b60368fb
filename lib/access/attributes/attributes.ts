/** Describes a request to the evaluator. Source: k8s.io/apiserver authorizer.Attributes, specification 2.3. */
import {
  type Asked,
  attributesOf,
  type NonResourceAttributes as NonResource,
  type ResourceAttributes as Resource,
} from '../../engine/registry/attributes.ts'

export type Target =
  /** This API. */
  | { type: 'Management' }
  /** A connected cluster. */
  | { type: 'Cluster'; cluster: string }
  /** A space (a namespace in some cluster) of a project. */
  | { type: 'ProjectSpace'; project: string; space: string; cluster?: string }
  | { type: 'ProjectVirtualCluster'; project: string; virtualCluster: string }

/** A request for objects. Its verb is one of this API, any verb of a cluster, or `*`, which SubjectAccessReviews may send. */
export interface ResourceAttributes extends Resource {
  target: Target
}

export interface NonResourceAttributes extends NonResource {
  target: Target
}

export type Attributes = ResourceAttributes | NonResourceAttributes

/** The types of targets. */
export const requestTargets = [
  'Management',
  'Cluster',
  'ProjectSpace',
  'ProjectVirtualCluster',
] as const satisfies readonly Target['type'][]

/** Returns the attributes of a request to this API for objects of a kind. Omitted members default to ''. */
export const managementRequest = (kind: { group: string; plural: string }, asked: Asked): ResourceAttributes => ({
  target: { type: 'Management' },
  ...attributesOf(kind, asked),
})

/**
 * A decision about a request. `reason` names the line that made it, such as `spec.scope.projects[0]`. `own` limits the
 * request to objects of the user's own identity, even for system:masters, because scopes are evaluated before groups.
 * `self` limits it further, to the access key that was presented.
 */
export type Decision = { allowed: true; reason: string; own?: true; self?: true } | { allowed: false; reason: string }
