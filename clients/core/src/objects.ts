/** Names the types of the API's objects, which the schemas of lib define. Every field may be absent: a key sees what its rights allow. */

import type { spec as clusterSpec, status as clusterStatus } from '../../../lib/clusters/cluster.schema.ts'
import type {
  spec as instanceSpec,
  status as instanceStatus,
} from '../../../lib/clusters/virtualclusterinstance.schema.ts'
import type { FromSchema } from '../../../lib/engine/meta/schema/schema.ts'
import type { ObjectMeta } from '../../../lib/engine/meta/types.ts'
import type { status as lookupStatus } from '../../../lib/keys/accesskeylookup.schema.ts'
import type { spec as keySpec, status as keyStatus } from '../../../lib/keys/ownedaccesskey.schema.ts'
import type { status as historyStatus } from '../../../lib/keys/ownedaccesskeyhistory.schema.ts'
import type { status as reviewStatus } from '../../../lib/reviews/ownedaccesskeyaccessreview.schema.ts'
import type { status as selfStatus } from '../../../lib/reviews/self.schema.ts'
import type { status as revocationStatus } from '../../../lib/revocation/accesskeyrevocation.schema.ts'

/** The type with these members present. */
type Having<T, K extends keyof T> = Omit<T, K> & { [M in K]-?: NonNullable<T[M]> }

/** The type of the items of a list that may be absent, or of another member. */
export type Item<L> = NonNullable<L> extends readonly (infer I)[] ? I : NonNullable<L>

/** The type with members of members, or of the items of lists, that the server always sends: `{ values: 'state' }`. */
export type Sending<T, M extends { [K in keyof T]?: keyof Item<T[K]> }> = {
  [K in keyof T]: K extends keyof M
    ? NonNullable<T[K]> extends readonly unknown[]
      ? Having<Item<T[K]>, M[K] & keyof Item<T[K]>>[]
      : Having<Item<T[K]>, M[K] & keyof Item<T[K]>>
    : T[K]
}

export type Metadata = Having<ObjectMeta, 'name' | 'uid' | 'resourceVersion' | 'creationTimestamp'>

type AccessKeySpec = FromSchema<typeof keySpec>

/** A scope: docs/scopes.md. */
export type Scope = NonNullable<AccessKeySpec['scope']>

/** An OwnedAccessKey: lib/keys/ownedaccesskey.md. */
export interface AccessKey {
  metadata: Metadata
  spec: AccessKeySpec
  status?: KeyStatus
}

type KeyStatus = Sending<
  FromSchema<typeof keyStatus>,
  { leak: 'reported'; lastSources: 'ip' | 'lastSeen'; madeWith: 'uid'; values: 'state' }
>

export type KeyValue = Item<KeyStatus['values']>

/** A Cluster, which gives a connected cluster an address: lib/clusters/cluster.md. */
export interface Cluster {
  metadata: Metadata
  spec?: Partial<FromSchema<typeof clusterSpec>>
  status?: FromSchema<typeof clusterStatus>
}

/** The status of an OwnedAccessKeyHistory: lib/keys/ownedaccesskeyhistory.md. */
export type KeyHistory = Sending<
  FromSchema<typeof historyStatus>,
  { events: 'time' | 'type'; made: 'name' | 'uid'; madeWith: 'uid' }
>

/** What happened to a key: docs/audit.md has the types. */
export type HistoryEvent = Item<KeyHistory['events']>

/** The status of a Self: who the access key of the request is. */
export type Self = Having<Sending<FromSchema<typeof selfStatus>, { user: 'name'; team: 'name' }>, 'uid' | 'accessKey'>

export interface List<T> {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** A VirtualClusterInstance: lib/clusters/virtualclusterinstance.md. */
export interface VirtualCluster {
  metadata: Metadata
  spec?: FromSchema<typeof instanceSpec>
  status?: FromSchema<typeof instanceStatus>
}

/** The status of an OwnedAccessKeyAccessReview. */
export type AccessReview = Having<Sending<FromSchema<typeof reviewStatus>, { steps: 'check' }>, 'allowed'>

export type ReviewStep = Item<AccessReview['steps']>

/** The status of an AccessKeyLookup. Empty if there is no key that the user may read. */
export type KeyLookup = FromSchema<typeof lookupStatus>

/** The status of an AccessKeyRevocation: docs/leaks.md. */
export type RevocationStatus = FromSchema<typeof revocationStatus>

/** Returns how many keys and trusts a revocation counts. */
export function totalOf({
  matched = 0,
  done = 0,
  failed = 0,
  federatedIdentityCredentials: trusts = {},
}: RevocationStatus) {
  return {
    matched: matched + (trusts.matched ?? 0),
    done: done + (trusts.done ?? 0),
    failed: failed + (trusts.failed ?? 0),
  }
}
