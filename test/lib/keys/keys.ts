/** Stored keys and credentials for the tests of this package. */

import type { JsonObject, ObjectMeta } from '../../../lib/engine/meta/types.ts'
import type { StoredKey } from '../../../lib/keys/credential/credential.ts'
import { encodeKeyInternal, type KeyInternal } from '../../../lib/keys/credential/keyinternal.ts'
import { createCredential } from '../../../lib/keys/values/writes.ts'

export const HASH = { version: '2', hash: 'aGFzaA' }
/** 2026-11-21T00:00:00Z */
export const CREATED = 1_795_219_200

export function storedKey(
  spec: JsonObject = {},
  internal: Partial<KeyInternal> = {},
  metadata: ObjectMeta = {},
): StoredKey {
  return {
    object: {
      apiVersion: 'management.platform/v1',
      kind: 'OwnedAccessKey',
      metadata: { name: 'ci', uid: 'u-1', generation: 1, creationTimestamp: '2026-11-21T00:00:00Z', ...metadata },
      spec,
    },
    internal: encodeKeyInternal({ creator: 'user:admin', carried: [], credential: HASH, ...internal }),
  }
}

/** The item that creating this key stores. */
export function itemOf(key: StoredKey, sealed: Record<string, string> = {}, maxTtl?: number): JsonObject {
  const [companion] = createCredential(key, sealed, maxTtl === undefined ? {} : { maxTtl })
  if (companion?.op !== 'put') throw new Error('a creation puts')
  return { pk: companion.pk, sk: companion.sk, ...companion.attributes }
}
