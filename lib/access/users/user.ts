/** Defines the user of a request, as the authorizer passes it to the handlers. Every context of a request has these members. */
import type { ScopeChain } from '../scopes/scope.ts'

/** The identity of a key. Ownership compares identities, so a subject with the name of a user is not that user. */
export type Identity = `user:${string}` | `team:${string}` | `subject:${string}`

/** Where the credential of the presented key is stored, and when it was created. */
export interface PresentedCredential {
  version: string
  hash: string
  /** Unix seconds. */
  created: number
  /** When the person signed in, in unix seconds. Absent if that is not known. */
  signedIn?: number
  /** The credential of the new value, if its first use would end this value within the time of a request. */
  successor?: { version: string; hash: string }
  /** For a value that a rotation has replaced: the first second in which it is invalid, in unix seconds. */
  until?: number
}

/** A trust or an identity provider at the revision that it had at an exchange. */
export interface PassedGate {
  uid: string
  revision: number
}

/**
 * The trust (FederatedIdentityCredential) and the identity provider that a key came through, at the revisions of the
 * exchange, and the run of the job that exchanged its ID token.
 */
export interface Federation {
  trust: PassedGate
  provider: PassedGate
  /** See `runOf` in lib/federation/run.ts. Absent from exchanges of the previous release. */
  run?: string
}

export interface UserInfo {
  name: string
  /** Absent when only the members of `key` determine it; `identityOf` resolves both cases. */
  identity?: Identity
  uid?: string
  /** Always contains `system:authenticated`. */
  groups: string[]
  /** The key that was presented. */
  key: {
    name: string
    uid: string
    type: string
    user?: string
    team?: string
    subject?: string
    /** From `spec.identity`. Self returns them; they grant nothing. */
    displayName?: string
    email?: string
    /** Unix seconds; absent = no expiry. */
    expires?: number
    /**
     * The last second of which what the key has issued is dead, in unix seconds: by an end of the key, or of a gate that it came
     * through. Absent if nothing was ended.
     */
    lastEnd?: number
    /** Generation of the key when the request was allowed. */
    generation?: number
  }
  /** Absent when the request did not present an access key. */
  credential?: PresentedCredential
  /** Present when an exchange made the presented key. */
  federation?: Federation
  /** The uids of the keys that made the presented key, the nearest last. Absent if none is known; never empty. */
  makers?: readonly string[]
  /** The IP addresses and CIDRs from which the presented key may be used. Absent means all; never empty. */
  sourceCIDRs?: readonly string[]
  /** Whether the scope of the presented key has the right to create reviews (`reviewright.ts`). */
  mayReview?: true
  /** The scopes that must all allow a request. Empty means unrestricted. */
  chain: ScopeChain
}

declare module '../../engine/registry/user.ts' {
  interface User extends UserInfo {}
}
