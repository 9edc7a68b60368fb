/** What the reviews need of the rest of the server; made in server/services.ts. */
import type { Authentication } from '../../../authentication/authenticate.ts'
import type { Attributes, Decision } from '../../../authorization/attributes/attributes.ts'
import type { ScopeOptions } from '../../../authorization/scopes/project.ts'
import type { ScopeChain } from '../../../authorization/scopes/scope.ts'
import type { SpaceOptions } from '../../../authorization/scopes/space.ts'
import type { RequestContext } from '../../../registry/kind.ts'

export const group = 'authorization.k8s.io'
export const version = 'v1'

export interface ReviewServices {
  scopes: ScopeOptions & SpaceOptions
  /** Of our tokens: their audiences begin with it. */
  issuer: string
  /** Whether the user of this request may do that here: scope chain, then groups, then ownership and access rules. */
  decide(context: RequestContext, attributes: Attributes): Promise<Decision>
  /** Whom a token authenticates here. */
  authenticate(token: string): Promise<Authentication>
  /** The scopes of the access key of this name and uid as they are now, if it still gives access: one consistent read. */
  keyChain(key: { name: string; uid: string }): Promise<ScopeChain | undefined>
  /** The uid of a virtual cluster instance; undefined = there is none. */
  instanceUid(reference: { namespace: string; name: string }): Promise<string | undefined>
}
