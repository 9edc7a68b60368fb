/** Names the API group and version of the kinds in this package. */
export const group = 'authorization.k8s.io'
export const version = 'v1'
