/** An object and the path that it is sent to: where both name a namespace or a name, they must agree. */
import { badRequest } from '../../meta/errors/status.ts'
import type { KubeObject } from '../../meta/types.ts'
import type { StoredKind } from '../../registry/kind.ts'

/** Puts an object into the namespace of its path; cluster-scoped kinds have none. Throws 400 when they differ. */
export function placed(kind: Pick<StoredKind, 'scope'>, object: KubeObject, namespace: string): KubeObject {
  const { namespace: own, ...metadata } = object.metadata
  if (kind.scope === 'Cluster') return { ...object, metadata }
  if (own && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request')
  }
  return { ...object, metadata: { ...metadata, namespace } }
}

/** Throws 400 unless the object has the name of its path. */
export function checkName(object: KubeObject, name: string): void {
  const own = object.metadata.name ?? ''
  if (own === name) return
  throw badRequest(
    own === ''
      ? `the name of the object (${name} based on URL) was undeterminable: name must be provided`
      : `the name of the object (${own}) does not match the name on the URL (${name})`,
  )
}
