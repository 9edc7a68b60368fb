/** Declares the objects of the API, as far as clients show them. Every field may be absent: a key sees what its rights allow. */
import type { KeyTextName } from '../../../lib/apis/management/v1/ownedaccesskey.texts.ts'

export interface Metadata {
  name: string
  namespace?: string
  uid: string
  resourceVersion: string
  generation?: number
  creationTimestamp: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: { kind: string; name: string; uid: string; controller?: boolean }[]
}

/** A scope: docs/scopes.md. */
export interface Scope {
  roles?: { role?: string; projects?: string[]; virtualClusters?: string[] }[]
  projects?: { project?: string }[]
  spaces?: { project?: string; space?: string }[]
  virtualClusters?: { project?: string; virtualCluster?: string }[]
  clusters?: { cluster?: string }[]
  rules?: object[]
  allowPlatformCli?: boolean
}

/** What the specs of access keys and of trusts, which make them, have in common. */
export interface KeySpec {
  displayName?: string
  description?: string
  user?: string
  team?: string
  subject?: string
  groups?: readonly string[]
  scope?: Scope
  /** Seconds. */
  ttl?: number
  disabled?: boolean
}

/** An OwnedAccessKey: lib/apis/management/v1/ownedaccesskey.md. */
export interface AccessKey {
  metadata: Metadata
  spec: KeySpec & { [name in KeyTextName]?: string } & {
    /** The value, only in the answer that made it. */
    key?: string
    ttlAfterLastActivity?: boolean
    sourceCIDRs?: readonly string[]
    type?: string
  }
  status?: {
    lastActivity?: string
    owner?: string
    phase?: string
    /** Report of the current value as leaked. Absent once a new value is used. */
    leak?: { reported: string; url?: string }
    expirationTimestamp?: string
    lastSources?: { ip: string; userAgent?: string; lastSeen: string }[]
    madeWith?: { name?: string; uid: string }
    lastRotation?: string
    values?: KeyValue[]
    formerScope?: FormerScope
    addedScopes?: Scope[]
  }
}

/** A Cluster, which gives a connected cluster an address: lib/apis/management/v1/cluster.md. */
export interface Cluster {
  metadata: Metadata
  spec?: {
    displayName?: string
    description?: string
    server?: string
    certificateAuthorityData?: string
    tokens?: string
    serviceAccounts?: { namespace?: string }
    credentials?: { secretRef?: { name?: string }; eks?: { clusterName?: string; region?: string } }
    access?: readonly { verbs?: readonly string[]; users?: readonly string[]; teams?: readonly string[] }[]
  }
  status?: { canUse?: boolean }
}

/** The scope that the last change of the scope replaced. Without a scope, there was none. */
export interface FormerScope {
  scope?: Scope
  replaced?: string
  until?: string
}

/** The status of an OwnedAccessKeyHistory: lib/apis/management/v1/ownedaccesskeyhistory.md. */
export interface KeyHistory {
  since?: string
  /** The newest first. */
  events?: HistoryEvent[]
  madeWith?: { name?: string; uid: string }
  made?: MadeKey[]
  madeSince?: string
  /** Whether the key made more than `made` has. */
  truncated?: boolean
}

/** A key that another one made. */
export interface MadeKey {
  name: string
  uid: string
  made?: string
  phase?: string
}

/** What happened to a key: docs/events.md has the types. */
export interface HistoryEvent {
  time: string
  type: string
  actor?: { user?: string; accessKey?: string; accessKeyUid?: string }
  fields?: string[]
  how?: string
  value?: number
  overlapSeconds?: number
  days?: number
  ip?: string
  userAgent?: string
  cluster?: string
  url?: string
}

export interface KeyValue {
  hint?: string
  state: 'Current' | 'Pending' | 'Retiring'
  made?: string
  lastActivity?: string
  until?: string
}

/** The status of a Self: who the access key of the request is. */
export interface Self {
  user?: { name: string; displayName?: string; email?: string }
  team?: { name: string }
  subject?: string
  uid: string
  groups?: string[]
  /** The name of the access key. */
  accessKey: string
  accessKeyScope?: Scope
  expirationTimestamp?: string
  /** The objects of a project are in the namespace PREFIX + PROJECT. */
  projectNamespacePrefix?: string
}

export interface List<T> {
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number }
  items: T[]
}

/** A VirtualClusterInstance: lib/apis/management/v1/virtualclusterinstance.md. */
export interface VirtualCluster {
  metadata: Metadata
  spec?: {
    displayName?: string
    description?: string
    owner?: { user?: string; team?: string }
    accessPoint?: { ingress?: { enabled?: boolean; host?: string } }
  }
  status?: {
    canUse?: boolean
    phase?: string
    reason?: string
    message?: string
    conditions?: { type: string; status?: string; severity?: string; reason?: string; message?: string }[]
  }
}

/** The status of an OwnedAccessKeyAccessReview. */
export interface AccessReview {
  allowed: boolean
  reason?: string
  steps?: ReviewStep[]
}

export interface ReviewStep {
  check: string
  /** Absent if the check could not be made. */
  allowed?: boolean
  reason?: string
  /** The scope entry that would allow the request. */
  entry?: Scope
}

/** The status of an AccessKeyLookup. Empty if there is no key that the user may read. */
export interface KeyLookup {
  name?: string
  uid?: string
  owner?: string
  phase?: string
}

/** The status of an AccessKeyRevocation: docs/revoking.md. */
export interface RevocationStatus {
  matched?: number
  done?: number
  failed?: number
  /** Whether the server had no time for all. */
  remaining?: boolean
  byOwner?: Record<string, number>
  keys?: {
    name?: string
    owner?: string
    displayName?: string
    lastActivity?: string
    expirationTimestamp?: string
  }[]
  /** Present if the revocation is also about trusts. */
  federatedIdentityCredentials?: {
    matched?: number
    done?: number
    failed?: number
    items?: { name?: string; owner?: string; displayName?: string; identityProvider?: string }[]
  }
  /** Keys whose tokens may work in these clusters. */
  unconfirmed?: { keys?: number; clusters?: string[] }
  failures?: { kind?: string; name?: string; code?: number; message?: string }[]
}

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
