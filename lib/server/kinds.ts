/** Lists the stored kinds. `test/agreement.test.ts` compares them with `lib/apis/index.ts`. */
import { FederatedIdentityCredential } from '../apis/management/v1/federation/federatedidentitycredential.ts'
import { IdentityProvider } from '../apis/management/v1/federation/identityprovider.ts'
import { OwnedAccessKey } from '../apis/management/v1/ownedaccesskey.ts'
import type { Services } from '../apis/management/v1/services.ts'
import { VirtualClusterInstance } from '../apis/management/v1/virtualclusterinstance.ts'
import type { StoredKind } from '../registry/kind.ts'

/** Every stored kind. Owner references may name any of them. */
export const storedKinds: readonly StoredKind<Services>[] = [
  OwnedAccessKey,
  FederatedIdentityCredential,
  IdentityProvider,
  VirtualClusterInstance,
]
