/** PLACEHOLDER, not committed. */

import { forbiddenPath } from '../../../meta/errors.ts'
import type { VirtualKind } from '../../../registry/kind.ts'
import { SelfSubjectReview } from '../../authentication/v1/selfsubjectreview.ts'

export const SubjectAccessReview: VirtualKind<unknown> = {
  ...SelfSubjectReview,
  group: 'authorization.k8s.io',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  singular: 'subjectaccessreview',
  create: async () => {
    throw forbiddenPath('no')
  },
}
