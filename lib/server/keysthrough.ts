/** Finds the keys of exchanges by what they came through. Reads no other keys: the name of a key begins with that of its trust. */

import { type HasTime, OutOfTime } from '../engine/registry/parallel.ts'
import { eachStored } from '../engine/registry/store.ts'
import type { Storage } from '../engine/storage/interface.ts'
import { table as trusts } from '../federation/federatedidentitycredential.values.ts'
import { decodeTrustInternal, keyNamePrefix } from '../federation/trust.ts'
import { decodeKeyInternal } from '../keys/credential/keyinternal.ts'
import type { Lifecycle } from '../keys/events/lifecycle.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'

/** Returns the function that yields the uids of the keys that came through a trust, or through any trust of an identity provider. */
export function keysThrough(storage: Storage, hasTime: HasTime): Lifecycle['keysThrough'] {
  async function* ofTrust(name: string, uid: string): AsyncGenerator<string> {
    for await (const { object, internal } of eachStored(
      { kind: OwnedAccessKey, storage },
      { namePrefix: keyNamePrefix(name) },
    )) {
      if (!hasTime()) throw new OutOfTime()
      if (isOf(uid, () => decodeKeyInternal(internal).federation?.trust.uid)) yield object.metadata.uid ?? ''
    }
  }
  return async function* through({ kind, uid, name }) {
    if (kind === 'trust') yield* ofTrust(name, uid)
    else {
      for await (const { object, internal } of eachStored({ kind: { table: trusts }, storage })) {
        const { name = '', uid: trust = '' } = object.metadata
        if (isOf(uid, () => decodeTrustInternal(internal).providerUid)) yield* ofTrust(name, trust)
      }
    }
  }
}

/** Reports whether an object is of what has ended. One that cannot be read is: it gives no access, and must not delay events. */
function isOf(uid: string, read: () => string | undefined): boolean {
  try {
    return read() === uid
  } catch {
    return true
  }
}
