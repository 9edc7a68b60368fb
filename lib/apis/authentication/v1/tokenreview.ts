/** PLACEHOLDER, not committed. */

import { forbiddenPath } from '../../../meta/errors.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { SelfSubjectReview } from '../../authentication/v1/selfsubjectreview.ts'

export const TokenReview: VirtualKind<unknown> = {
  ...SelfSubjectReview,
  group: 'authentication.k8s.io',
  kind: 'TokenReview',
  plural: 'tokenreviews',
  singular: 'tokenreview',
  create: async () => {
    throw forbiddenPath('no')
  },
}
