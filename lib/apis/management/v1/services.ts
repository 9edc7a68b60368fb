/** What the kinds of this group need of the rest of the server; made in server/services.ts. */

import type { Authentication } from '../../../authentication/authenticate.ts'
import type { LifeLimits } from '../../../authentication/keystatus.ts'
import type { KeyHash } from '../../../authentication/pepper.ts'
import type { Attributes } from '../../../authorization/attributes/attributes.ts'
import type { ScopeOptions } from '../../../authorization/scopes/project.ts'
import type { KubeConfigServices } from '../../../kubeconfig/kubeconfig.ts'
import type { JsonObject } from '../../../meta/types.ts'
import type { RequestContext } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'
import type { IssuerSettings } from '../../../token/issuer.ts'
import type { Signer } from '../../../token/signer.ts'

export interface KeyServices {
  /** A new access key. */
  generate(): string
  /** The hashes under which a key may be stored, the newest pepper's first. */
  hashes(key: string): Promise<readonly KeyHash[]>
  /** The credential item under a hash. */
  readCredential(hash: KeyHash): Promise<JsonObject | undefined>
  limits: LifeLimits
  /** How many keys may stand for one user, team or subject; 0 = any number. */
  maxPerOwner: number
}

export interface Services {
  keys: KeyServices
  scopes: ScopeOptions
  kubeConfigs: KubeConfigServices
  tokens: { settings: IssuerSettings; signer: Signer }
  /** Whom an access key authenticates here. */
  authenticate(token: string): Promise<Authentication>
  /** Throws 403 unless the scope chain of the request allows these attributes. */
  demandChain(context: RequestContext, attributes: Attributes): void
  /** Throws 401 unless the key of the request still is as it was when the request was allowed. */
  demandKey(context: RequestContext): Promise<void>
  /** A virtual cluster instance that this request may use so; throws 404 and 403. */
  instance(
    reference: { namespace: string; name: string },
    use: { verb: string; subresource: string },
    context: RequestContext,
  ): Promise<Stored>
}
