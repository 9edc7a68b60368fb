/** Access keys against the store: what the authorizer asks of every request, and TokenReview of a token. */
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import type { AuthenticationDeps } from '../authentication/authenticate.ts'
import { credentialItemKey } from '../authentication/credential.ts'
import type { LifeLimits } from '../authentication/keystatus.ts'
import type { KeyHash } from '../authentication/pepper.ts'
import type { Storage } from '../storage/interface.ts'

/** What of a server authentication stands on. */
export interface KeyStore {
  storage: Storage
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
}

/** What `authenticate` needs, over the store; `touchFailed` hears of a last activity that could not be written. */
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
    now: Date.now,
    async touch(hash, { name, uid, generation }, lastActivity, { lastActivity: _, ...attributes }) {
      const credential = { ...credentialItemKey(hash), lastActivity, attributes, same: { uid, generation } }
      const { table } = OwnedAccessKey
      await storage.touchActivity({ table, key: name, uid, at: lastActivity * 1000, credential })
    },
    touchFailed,
  }
}
