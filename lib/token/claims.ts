/** What our tokens say. The names of the claims are a contract with every cluster: docs/clusters.md. */

import { MANAGEMENT_GROUP } from '../authorization/attributes/attributes.ts'
import type { ScopeChain } from '../authorization/scopes/scope.ts'
import type { UserInfo } from '../authorization/users/user.ts'
import { stringify } from '../meta/encoding/json.ts'
import { mayLeave, outsideGroups } from './identity.ts'
import type { Lifetime } from './lifetime.ts'

/**
 * The one private claim, named after the API group: what the review endpoint needs to judge the token without reading
 * anything but the key.
 */
export const PRIVATE_CLAIM = MANAGEMENT_GROUP

export interface PrivateClaim {
  /** The access key that the token was made with: the token is dead when the key is. */
  key: { name: string; uid: string }
  /**
   * JSON text of the scope chain, `[]` when unrestricted. Text, because CEL in a kube-apiserver can copy text but not
   * write JSON, and because Kubernetes drops empty extras: a token without it must never look unrestricted.
   */
  scopes: string
}

/** RFC 7519. Times are Unix seconds. */
export interface Claims {
  iss: string
  aud: string[]
  sub: string
  groups: string[]
  jti: string
  iat: number
  nbf: number
  exp: number
  [PRIVATE_CLAIM]: PrivateClaim
}

export interface ClaimsRequest {
  user: UserInfo
  /** The scopes that bind the token: those of the user, and its own. */
  chain: ScopeChain
  audiences: string[]
  lifetime: Lifetime
  now: Date
}

/** Undefined for a user that no cluster may see (`system:…`). */
export function claimsFor(
  { user, chain, audiences, lifetime, now }: ClaimsRequest,
  { issuer, uuid }: { issuer: string; uuid(): string },
): Claims | undefined {
  if (!mayLeave(user.name)) return undefined
  const iat = Math.floor(now.getTime() / 1000)
  return {
    iss: issuer,
    aud: audiences,
    sub: user.name,
    groups: outsideGroups(user.groups),
    jti: uuid(),
    iat,
    nbf: iat,
    exp: iat + lifetime.seconds,
    [PRIVATE_CLAIM]: { key: { name: user.key.name, uid: user.key.uid }, scopes: stringify(chain) },
  }
}
