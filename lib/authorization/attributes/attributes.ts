/** Describes a request to the evaluator. Source: k8s.io/apiserver authorizer.Attributes, specification 2.3. */
export type Target =
  /** This API. */
  | { type: 'Management' }
  /** A connected cluster. */
  | { type: 'Cluster'; cluster: string }
  /** A space (a namespace in some cluster) of a project. */
  | { type: 'ProjectSpace'; project: string; space: string; cluster?: string }
  | { type: 'ProjectVirtualCluster'; project: string; virtualCluster: string }

export interface ResourceAttributes {
  kind: 'resource'
  target: Target
  /**
   * A verb of this API (`create`, `deletecollection`), any verb of a cluster, or `*`, which SubjectAccessReviews may
   * send.
   */
  verb: string
  group: string
  resource: string
  subresource: string
  /** '' when the request names no object. */
  name: string
  /** '' for cluster-scoped resources and for all namespaces. */
  namespace: string
  /**
   * Set when the request is for a namespaced resource in all namespaces. The '' in a rule's namespaces then does not
   * match.
   */
  allNamespaces?: true
}

export interface NonResourceAttributes {
  kind: 'nonresource'
  target: Target
  /** Lower case HTTP method. */
  verb: string
  path: string
}

export type Attributes = ResourceAttributes | NonResourceAttributes

/** What a request to this API asks for. */
export type Asked = Pick<ResourceAttributes, 'verb'> &
  Partial<Pick<ResourceAttributes, 'subresource' | 'name' | 'namespace'>>

/** The types of targets. */
export const requestTargets = [
  'Management',
  'Cluster',
  'ProjectSpace',
  'ProjectVirtualCluster',
] as const satisfies readonly Target['type'][]

/** Returns the attributes of a request to this API for objects of a kind. Omitted members default to ''. */
export const managementRequest = (
  { group, plural }: { group: string; plural: string },
  asked: Asked,
): ResourceAttributes => ({
  kind: 'resource',
  target: { type: 'Management' },
  group,
  resource: plural,
  subresource: '',
  name: '',
  namespace: '',
  ...asked,
})

/**
 * A decision about a request. `reason` names the line that made it, such as `spec.scope.projects[0]`. `own` limits the
 * request to objects of the user's own identity, even for system:masters, because scopes are evaluated before groups.
 * `self` limits it further, to the access key that was presented.
 */
export type Decision = { allowed: true; reason: string; own?: true; self?: true } | { allowed: false; reason: string }
