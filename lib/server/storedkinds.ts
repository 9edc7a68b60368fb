/** Lists the stored kinds. Owner references may name any of them. */

import { Cluster } from '../clusters/cluster.ts'
import { VirtualClusterInstance } from '../clusters/virtualclusterinstance.ts'
import type { StoredKind } from '../engine/registry/kind.ts'
import { FederatedIdentityCredential } from '../federation/federatedidentitycredential.ts'
import { IdentityProvider } from '../federation/identityprovider.ts'
import { OwnedAccessKey } from '../keys/ownedaccesskey.ts'
import type { Services } from '../keys/services.ts'
import type { StoredName } from '../kinds.ts'

/** The stored kinds of the table by their names. */
export const stored: Readonly<Record<StoredName, StoredKind<Services>>> = {
  OwnedAccessKey,
  FederatedIdentityCredential,
  IdentityProvider,
  VirtualClusterInstance,
  Cluster,
}

export const storedKinds: readonly StoredKind<Services>[] = Object.values(stored)
