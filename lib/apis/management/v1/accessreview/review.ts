/** Answers an access review of a key: reads the key, and judges the request step by step. */
import { KINDS } from '../../../../kinds/kinds.ts'
import { invalid } from '../../../../meta/errors/fielderror.ts'
import { invalidObject } from '../../../../meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../../../../meta/types.ts'
import type { VirtualRequest } from '../../../../registry/kind.ts'
import type { AccessReviewServices } from '../services.ts'
import { readReviewedKey } from './reviewedkey.ts'
import { type ReviewSpec, readAsked, validateSpec } from './reviewedrequest.ts'
import { reviewSteps, type Step } from './steps.ts'

const { group, kind, subresource } = KINDS.OwnedAccessKeyAccessReview

/** Returns the review with its status. Throws 403, 404 or 422. */
export async function reviewAccess(
  { object: review, name, context }: VirtualRequest,
  services: AccessReviewServices,
): Promise<KubeObject> {
  const stored = await readReviewedKey({ name, subresource, verb: 'create' }, context, services)
  const asked = (review.spec ?? {}) as ReviewSpec
  const given = review.metadata.name
  const misnamed = given !== undefined && given !== name
  const errors = [
    ...(misnamed ? [invalid('metadata.name', given, 'must match the access key name if specified')] : []),
    ...validateSpec(asked, services.scopes),
  ]
  if (errors.length > 0) throw invalidObject(group, kind, name, errors)
  const request = readAsked(asked, services.scopes, services.pathBelowBase)
  const steps = await reviewSteps(stored, request, { sourceIP: asked.sourceIP || undefined, context, services })
  const status = summarize(steps, request.isHere)
  context.note('reviewedKey', name)
  context.note('review', status.allowed ? 'allowed' : 'denied')
  const { uid } = stored.object.metadata
  return { ...review, metadata: { ...review.metadata, name, ...(uid && { uid }) }, status }
}

/** Returns the status. A request whose rights could not be checked is not allowed, except where a cluster checks them. */
function summarize(steps: readonly Step[], isHere: boolean): JsonObject {
  const refusing =
    steps.find(({ allowed }) => allowed === false) ??
    steps.find(({ check, allowed }) => isHere && check === 'rights' && allowed === undefined)
  const deciding = steps.filter(({ check }) => check === 'scope' || check === 'rights')
  return {
    allowed: refusing === undefined,
    reason: refusing?.reason ?? deciding.map(({ reason }) => reason).join('; '),
    steps: steps as unknown as JsonObject[],
  }
}
