/** Names what tokens and users have in clusters. Every connected cluster is configured with these names: docs/clusters.md. */

/**
 * The only private claim, named after the API group. It lets the review endpoint evaluate the token by reading only the
 * key.
 */
export const PRIVATE_CLAIM = 'management.platform'

/** Lower case, below a domain of this service: the Kubernetes rule for extra keys. */
export const EXTRA = {
  /** Name of the access key. */
  key: 'management.platform/access-key',
  /**
   * Uid of the access key. Its presence marks a user of this service, about whom the cluster must ask the review
   * endpoint.
   */
  keyUid: 'management.platform/access-key-uid',
  /** JSON text of the scope chain, `[]` when unrestricted: see PrivateClaim. */
  scopes: 'management.platform/scopes',
  /** The run of the job that uses the key. It is for the cluster's audit log: nothing reads it here. */
  run: 'management.platform/run',
  /**
   * The place of the user: the audience without the issuer, `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`.
   */
  target: 'management.platform/target',
  /**
   * Unix seconds at which the token was issued, or the access key was reviewed. Absent from clusters with a configuration
   * from before it: see `Outsider`.
   */
  issuedAt: 'management.platform/issued-at',
} as const
