/** Defines OwnedAccessKeyAccessReview, which says whether a request with an access key would be allowed, and why. */
import { KINDS } from '../../../../kinds/kinds.ts'
import type { VirtualKind } from '../../../../registry/kind.ts'
import type { AccessReviewServices } from '../services.ts'
import { spec, status } from './ownedaccesskeyaccessreview.schema.ts'

export const OwnedAccessKeyAccessReview: VirtualKind<AccessReviewServices> = {
  ...KINDS.OwnedAccessKeyAccessReview,
  description: 'Says whether a request with an access key would be allowed, with every step of the decision.',
  // Without a misspelled target, the answer would be about this API.
  grantsAccess: true,
  schema: { spec, status },
  async create(request, services) {
    const { reviewAccess } = await import('./review.ts')
    return reviewAccess(request, services)
  },
}
