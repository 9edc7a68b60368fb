/** Declares the services that kinds use. The rooms above add their own. `lib/server/server.ts` implements all of them. */

import type { Attributes } from '../access/attributes/attributes.ts'
import type { ScopeOptions } from '../access/scopes/project.ts'
import type { SpaceOptions } from '../access/scopes/space.ts'
import type { JsonObject } from '../engine/meta/types.ts'
import type { ResourceAttributes } from '../engine/registry/attributes.ts'
import type { RequestContext, StoredKind } from '../engine/registry/kind.ts'
import type { Store } from '../engine/registry/store.ts'
import type { Storage } from '../engine/storage/interface.ts'
import type { LifeLimits } from './credential/keystatus.ts'
import type { KeyHash } from './credential/pepper.ts'
import type { KeyIntent } from './ownedaccesskey.values.ts'
import type { Asked, Purpose, Verdict } from './requests/admit.ts'
import type { Authentication, LivingKey } from './requests/authenticate.ts'

interface KeyServices {
  /** Generates an access key. */
  generate(): string
  /** Returns the hashes under which a key may be stored, that of the newest pepper first. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** Reads the credential item that is stored under a hash. */
  readCredential(hash: KeyHash): Promise<JsonObject | undefined>
  /** Reads those that are stored under several hashes, in the same order: one consistent call. */
  readCredentials(hashes: readonly KeyHash[]): Promise<readonly (JsonObject | undefined)[]>
  limits: LifeLimits
  /** For how many seconds the tombstone of a value is kept. */
  retentionSeconds: number
  /** Whether keys show from where they were used. */
  recordSources: boolean
  /** Maximum number of keys for each user, team or subject. 0 means no limit. */
  maxPerOwner: number
}

export interface Services {
  keys: KeyServices
  scopes: ScopeOptions & SpaceOptions
  /** Whether the deployment records usage. */
  recordUsage: boolean
  /** Authenticates an access key. Without `writes`, the reuse of an ended value is not recorded. */
  authenticate(token: string, options?: { writes: boolean }): Promise<Authentication>
  /** Judges an authenticated key, confirms that it gives access, and records its use, as the purpose demands. */
  admit(living: LivingKey, asked: Asked, purpose: Purpose): Promise<Verdict>
  /** Rejects with 403 unless the scope chain of the request allows this request to this API. */
  checkAllowed(context: RequestContext, asked: ResourceAttributes): Promise<void>
  /** Records a request that the scope chain allowed, besides the one that the authorizer has seen. Never rejects. */
  used(context: Pick<RequestContext, 'user'>, attributes: Attributes): Promise<void>
  /** Returns the store of access keys. */
  keyStore(): Store<KeyIntent>
  /** Returns the store of another kind. */
  storeOf<I>(kind: StoredKind<Services, I>): Store<I>
  /** Resolves after the given number of milliseconds. */
  sleep(ms: number): Promise<void>
  /** Throws 401 if the key of the request was changed since the request was allowed. */
  checkKeyHolds(context: RequestContext): Promise<void>
}

export interface UsageServices extends Services {
  storage: Storage
}
