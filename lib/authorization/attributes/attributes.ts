/** What a request wants, as the evaluator sees it. Source: k8s.io/apiserver authorizer.Attributes, specification 2.3. */
import type { GroupResource } from '../../meta/types.ts'

/** The API group of this API's own kinds. */
export const MANAGEMENT_GROUP = 'management.platform'

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
  /** One of this API (`create`, `deletecollection`), any of a cluster, or `*` as SubjectAccessReviews may ask. */
  verb: string
  group: string
  resource: string
  subresource: string
  /** '' where the request names none. */
  name: string
  /** '' for cluster-scoped resources and all namespaces. */
  namespace: string
  /** Set where a namespaced resource is asked for in all namespaces: the '' of a rule's namespaces does not match then. */
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

type Asked = Pick<ResourceAttributes, 'verb'> & Partial<Pick<ResourceAttributes, 'subresource' | 'name' | 'namespace'>>

/** A request for a resource of this API, whatever its group; what is not said is ''. */
export const managementRequest = (asked: GroupResource & Asked): ResourceAttributes => ({
  kind: 'resource',
  target: { type: 'Management' },
  subresource: '',
  name: '',
  namespace: '',
  ...asked,
})

/**
 * `reason` names the line that made the decision: `spec.scope.projects[0]`. `own` means: only objects that belong to the
 * user's own identity, for system:masters too (a scope is judged before the groups are).
 */
export type Decision = { allowed: true; reason: string; own?: true } | { allowed: false; reason: string }
