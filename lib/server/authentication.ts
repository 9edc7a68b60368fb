/** Connects authentication to the store, for the authorizer, TokenReview and Self. */
import { table } from '../apis/management/v1/ownedaccesskey.table.ts'
import type { AuthenticationDeps } from '../authentication/authenticate.ts'
import { credentialItemKey } from '../authentication/credential.ts'
import type { LifeLimits } from '../authentication/keystatus.ts'
import type { KeyHash } from '../authentication/pepper.ts'
import type { Storage } from '../storage/interface.ts'

/** The parts of the server that authentication uses. */
export interface KeyStore {
  storage: Storage
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
}

/** Returns the dependencies of `authenticate`. `touchFailed` receives errors of writing the last activity. */
export function authenticationDeps(
  { storage, hashes, limits }: KeyStore,
  touchFailed: (error: unknown) => void,
): AuthenticationDeps {
  return {
    ...limits,
    hashes,
    async readCredential(candidates) {
      const items = await storage.getCompanions(candidates.map(credentialItemKey))
      const found = candidates.flatMap((hash, index) => {
        const item = items[index]
        return item ? [{ hash, item: item.attributes }] : []
      })
      return found[0]
    },
    readGates: (keys) => storage.getCompanions(keys),
    now: Date.now,
    async touch(hash, { name, uid, generation }, lastActivity, { lastActivity: _, ...attributes }) {
      const credential = { ...credentialItemKey(hash), lastActivity, attributes, same: { uid, generation } }
      await storage.touchActivity({ table, key: name, uid, at: lastActivity * 1000, credential })
    },
    touchFailed,
  }
}
