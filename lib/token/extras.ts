/**
 * What a cluster knows of one of our users besides name and groups, and hands back with each question to the review
 * endpoint: the `extra` of its UserInfo. Set from the private claim of a token by the cluster's configuration
 * (infra/clusterconfig.ts), and by our TokenReview for an access key.
 */
import type { UserInfo } from '../authentication/user.ts'
import { stringify } from '../meta/json.ts'

/** Lower case, below a domain of ours: Kubernetes' rule for the keys of extras. */
export const EXTRA = {
  /** Name of the access key. */
  key: 'management.platform/access-key',
  /** Its uid; where this is, the user is ours and the review endpoint must be asked. */
  keyUid: 'management.platform/access-key-uid',
  /** JSON text of the scope chain, `[]` when unrestricted: see PrivateClaim. */
  scopes: 'management.platform/scopes',
  /** Who asks: the audience without the issuer, `clusters/NAME` or `virtualclusters/NAMESPACE/NAME/UID`. */
  target: 'management.platform/target',
} as const

/** The extras of a user whom an access key authenticates at a cluster. */
export const extrasOf = (
  { key, chain }: Pick<UserInfo, 'key' | 'chain'>,
  target: string,
): Record<string, string[]> => ({
  [EXTRA.key]: [key.name],
  [EXTRA.keyUid]: [key.uid],
  [EXTRA.scopes]: [stringify(chain)],
  [EXTRA.target]: [target],
})
