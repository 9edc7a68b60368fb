/** Reads the key of a subresource that tells more of a key than its object does: an access review, usage or history. */
import { managementRequest } from '../../../../authorization/attributes/attributes.ts'
import { KINDS } from '../../../../kinds/kinds.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import { getObject } from '../../../../registry/read.ts'
import type { Stored } from '../../../../storage/interface.ts'
import type { Services } from '../services.ts'

/** Returns the key, which the scopes must allow to read, too. Throws 403 or 404. */
export async function readReviewedKey(
  { name, subresource, verb }: { name: string; subresource: string; verb?: string },
  context: RequestContext,
  services: Services,
): Promise<Stored> {
  // Its refusal names the entry that is missing.
  await services.checkChain(context, managementRequest(KINDS.OwnedAccessKey, { verb: 'get', name }))
  const asked = { namespace: '', name, subresource, ...(verb && { verb }) }
  return getObject(services.keyStore(), asked, context)
}
