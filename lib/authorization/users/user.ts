/** Who makes a request, as the authorizer hands it to the handlers. */
import type { ScopeChain } from '../scopes/scope.ts'

/** Whom a key stands for. Ownership is compared by it, so that a subject named like a user is not that user. */
export type Identity = `user:${string}` | `team:${string}` | `subject:${string}`

/** Where the credential of the presented key lies, and since when there is such a key. */
export interface PresentedCredential {
  version: string
  hash: string
  /** Unix seconds. */
  created: number
}

export interface UserInfo {
  name: string
  /** Absent where nothing but the members of `key` tells it; `identityOf` resolves both. */
  identity?: Identity
  uid?: string
  /** Always with `system:authenticated`. */
  groups: string[]
  /** The key that was presented. */
  key: {
    name: string
    uid: string
    type: string
    user?: string
    team?: string
    subject?: string
    /** Both from `spec.identity`; shown by Self, they grant nothing. */
    displayName?: string
    email?: string
    /** Unix seconds; absent = no expiry. */
    expires?: number
    /** Of the key as it was when the request was allowed. */
    generation?: number
  }
  /** Absent of requests that no access key was presented for. */
  credential?: PresentedCredential
  /** The scopes that a request must pass, all of them; empty = unrestricted. */
  chain: ScopeChain
}
