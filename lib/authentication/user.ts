/** Who makes a request, as the authorizer hands it to the handlers. */
import type { ScopeChain } from '../authorization/scope.ts'

export interface UserInfo {
  name: string
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
    displayName?: string
    email?: string
    /** Unix seconds; absent = no expiry. */
    expires?: number
  }
  /** The scopes that a request must pass, all of them; empty = unrestricted. */
  chain: ScopeChain
}
