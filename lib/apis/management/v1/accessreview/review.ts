/** Answers an access review of a key: reads the key, and judges the request step by step. */
import { managementRequest } from '../../../../authorization/attributes/attributes.ts'
import { forbiddenFor } from '../../../../authorization/attributes/forbidden.ts'
import { containsChain } from '../../../../authorization/scopes/chain.ts'
import { invalid } from '../../../../meta/errors/fielderror.ts'
import { invalidObject } from '../../../../meta/errors/status.ts'
import type { JsonObject, KubeObject } from '../../../../meta/types.ts'
import type { RequestContext, VirtualRequest } from '../../../../registry/kind.ts'
import { getObject } from '../../../../registry/read.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { group } from '../group.ts'
import { plural } from '../ownedaccesskey.table.ts'
import { scopesOf } from '../ownedaccesskey.values.ts'
import type { AccessReviewServices } from './accessreviewservices.ts'
import { type ReviewSpec, readAsked, validateSpec } from './asked.ts'
import { reviewSteps, type Step } from './steps.ts'

interface Reviewed {
  kind: string
  subresource: string
}

const resource = { group, resource: plural }

/** Returns the review with its status. Throws 403, 404 or 422. */
export async function reviewAccess(
  { kind, subresource }: Reviewed,
  { object: review, name, context }: VirtualRequest,
  services: AccessReviewServices,
): Promise<KubeObject> {
  const stored = await readKey(name, subresource, context, services)
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

/**
 * Returns the key if the user may get it. Throws 404 if not, and 403 for a key with less scopes than the one that asks: about
 * such a key it would learn what its own scopes keep from it.
 */
async function readKey(
  name: string,
  subresource: string,
  context: RequestContext,
  services: AccessReviewServices,
): Promise<Stored> {
  services.checkChain(context, managementRequest({ ...resource, verb: 'get', name }))
  const stored = await getObject(services.keyStore(), { namespace: '', name, subresource: '' }, context)
  const { user } = context
  if (stored.object.metadata.uid === user.key.uid || containsChain(scopesOf(stored), user.chain)) return stored
  const why = 'the access key used has a scope that this access key does not inherit'
  context.note('denied', why)
  throw forbiddenFor(managementRequest({ ...resource, verb: 'create', subresource, name }), user, why)
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
