/** Describes a request to this API to whoever authorizes it. Source: k8s.io/apiserver authorizer.Attributes. */
export interface ResourceAttributes {
  kind: 'resource'
  /** A verb of this API (`create`, `deletecollection`), or `*`. */
  verb: string
  group: string
  resource: string
  subresource: string
  /** '' when the request names no object. */
  name: string
  /** '' for cluster-scoped resources and for all namespaces. */
  namespace: string
  /** Set when the request is for a namespaced resource in all namespaces. */
  allNamespaces?: true
}

export interface NonResourceAttributes {
  kind: 'nonresource'
  /** Lower case HTTP method. */
  verb: string
  path: string
}

/** What a request to this API asks for. */
export type Asked = Pick<ResourceAttributes, 'verb'> &
  Partial<Pick<ResourceAttributes, 'subresource' | 'name' | 'namespace'>>

/** Returns the attributes of a request for objects of a kind. Omitted members default to ''. */
export const attributesOf = (
  { group, plural }: { group: string; plural: string },
  asked: Asked,
): ResourceAttributes => ({
  kind: 'resource',
  group,
  resource: plural,
  subresource: '',
  name: '',
  namespace: '',
  ...asked,
})
