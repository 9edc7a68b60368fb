/** Provides objects of the stored kinds and their paths below the base path of a server. */
export const apiVersion = 'management.platform/v1'
export const management = `/apis/${apiVersion}`
export const keys = `${management}/ownedaccesskeys`
export const instances = (namespace: string): string => `${management}/namespaces/${namespace}/virtualclusterinstances`

export const clusters = `${management}/clusters`

export const accessKey = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion,
  kind: 'OwnedAccessKey',
  metadata: { name, ...metadata },
  spec,
})

export const instance = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion,
  kind: 'VirtualClusterInstance',
  metadata: { name, ...metadata },
  spec,
})

export const cluster = (name: string, spec: object = {}) => ({
  apiVersion,
  kind: 'Cluster',
  metadata: { name },
  spec: { server: `https://${name}.example.com`, ...spec },
})
