/** Defines SelfSubjectAccessReview, which `kubectl auth can-i` creates. Source: k8s.io/api authorization/v1. */

import { invalidObject } from '../engine/meta/errors/status.ts'
import { object } from '../engine/meta/schema/schema.ts'
import type { VirtualKind } from '../engine/registry/kind.ts'
import { message } from '../engine/registry/protobuf.ts'
import { KINDS } from '../kinds.ts'
import { reviewStatus } from './answer.schema.ts'
import { type AskedAttributes, nonResourceAttributes, resourceAttributes } from './attributes.schema.ts'
import { attributesProtobuf, toAttributes, validateAsked } from './attributes.ts'
import type { ReviewServices } from './reviewservices.ts'

const { group, kind } = KINDS.SelfSubjectAccessReview

export const SelfSubjectAccessReview: VirtualKind<ReviewServices> = {
  ...KINDS.SelfSubjectAccessReview,
  description: 'Checks whether the user who makes the request may perform an action.',
  schema: {
    spec: object('The action to check.', { resourceAttributes, nonResourceAttributes }),
    status: reviewStatus,
  },
  protobuf: { 2: message('spec', attributesProtobuf) },
  async create({ object: review, context }, services) {
    const spec = (review.spec ?? {}) as AskedAttributes
    const errors = validateAsked(spec)
    if (errors.length > 0) throw invalidObject(group, kind, '', errors)
    const attributes = toAttributes(spec, { type: 'Management' })
    const { allowed, reason } = await services.decide(context, attributes)
    return { ...review, status: { allowed, reason } }
  },
}
