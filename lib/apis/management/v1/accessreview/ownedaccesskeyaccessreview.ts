/** Defines OwnedAccessKeyAccessReview, which says whether a request with an access key would be allowed, and why. */
import type { VirtualKind } from '../../../../registry/kind.ts'
import { group, version } from '../group.ts'
import { plural, REVIEW as subresource } from '../ownedaccesskey.table.ts'
import type { AccessReviewServices } from './accessreviewservices.ts'
import { spec, status } from './ownedaccesskeyaccessreview.schema.ts'

const kind = 'OwnedAccessKeyAccessReview'

export const OwnedAccessKeyAccessReview: VirtualKind<AccessReviewServices> = {
  archetype: 'virtual',
  group,
  version,
  kind,
  plural,
  singular: 'ownedaccesskey',
  subresource,
  scope: 'Cluster',
  description: 'Says whether a request with an access key would be allowed, with every step of the decision.',
  // Without a misspelled target, the answer would be about this API.
  grantsAccess: true,
  schema: { spec, status },
  async create(request, services) {
    const { reviewAccess } = await import('./review.ts')
    return reviewAccess({ kind, subresource }, request, services)
  },
}
