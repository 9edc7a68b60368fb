/** Names whoever makes a request, as the change log records it. */
import type { JsonObject } from '../../engine/meta/types.ts'
import type { RequestContext } from '../../engine/registry/kind.ts'

/** Returns the user, the access key and the ID of a request. The server's own users have no access key. */
export function authorOf({ user, requestId }: Pick<RequestContext, 'user' | 'requestId'>): JsonObject {
  const { name, uid } = user.key
  return { user: user.name, ...(uid && { key: name, keyUid: uid }), ...(requestId && { requestId }) }
}
