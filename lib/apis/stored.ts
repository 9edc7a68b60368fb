/** Lists the stored kinds. Owner references may name any of them. */

import type { StoredKind } from '../engine/registry/kind.ts'
import type { StoredName } from '../kinds/kinds.ts'
import { Cluster } from './management/v1/cluster.ts'
import { FederatedIdentityCredential } from './management/v1/federation/federatedidentitycredential.ts'
import { IdentityProvider } from './management/v1/federation/identityprovider.ts'
import { OwnedAccessKey } from './management/v1/ownedaccesskey.ts'
import type { Services } from './management/v1/services.ts'
import { VirtualClusterInstance } from './management/v1/virtualclusterinstance.ts'

/** The stored kinds of the table by their names. */
export const stored: Readonly<Record<StoredName, StoredKind<Services>>> = {
  OwnedAccessKey,
  FederatedIdentityCredential,
  IdentityProvider,
  VirtualClusterInstance,
  Cluster,
}

export const storedKinds: readonly StoredKind<Services>[] = Object.values(stored)
