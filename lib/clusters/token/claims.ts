/** Builds the claims of tokens. Their names are a contract with every cluster: docs/clusters.md. */

import type { ScopeChain } from '../../access/scopes/scope.ts'
import { runOfUser } from '../../access/users/identity.ts'
import type { UserInfo } from '../../access/users/user.ts'
import { stringify } from '../../engine/meta/encoding/json.ts'
import { unixSeconds } from '../../engine/meta/encoding/time.ts'
import { forbiddenPath } from '../../engine/meta/errors/status.ts'
import type { JsonObject } from '../../engine/meta/types.ts'
import { PRIVATE_CLAIM } from './contract.ts'
import type { Lifetime } from './tokenlifetime.ts'
import { isVisibleUser, visibleGroups } from './visibleuser.ts'

interface PrivateClaim {
  /** The access key that created the token. The token becomes invalid when the key does. `run` is for audit logs: see `runOfUser`. */
  key: { name: string; uid: string; run: string }
  /**
   * JSON text of the scope chain, `[]` when unrestricted. It is text because CEL in kube-apiserver can copy text but
   * not write JSON, and because Kubernetes drops empty extras: a token without scopes must never look unrestricted.
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

/** Returns the key to which a token belongs, from the claims of a token whose signature has held. */
export const keyOfToken = (claims: JsonObject): { name: string; uid: string } =>
  (claims[PRIVATE_CLAIM] as unknown as PrivateClaim).key

interface ClaimsRequest {
  user: UserInfo
  /** The scopes that restrict the token: the user's and its own. */
  chain: ScopeChain
  audiences: string[]
  lifetime: Lifetime
  now: Date
}

/** Returns the claims of a token. Throws 403 for a user that clusters must not see. */
export function claimsFor(
  { user, chain, audiences, lifetime, now }: ClaimsRequest,
  { issuer, uuid }: { issuer: string; uuid(): string },
): Claims {
  if (!isVisibleUser(user.name)) {
    throw forbiddenPath('users whose names begin with "system:" cannot have cluster tokens')
  }
  const iat = unixSeconds(now)
  return {
    iss: issuer,
    aud: audiences,
    sub: user.name,
    groups: visibleGroups(user.groups),
    jti: uuid(),
    iat,
    nbf: iat,
    exp: iat + lifetime.seconds,
    [PRIVATE_CLAIM]: {
      key: { name: user.key.name, uid: user.key.uid, run: runOfUser(user) },
      scopes: stringify(chain),
    },
  }
}
