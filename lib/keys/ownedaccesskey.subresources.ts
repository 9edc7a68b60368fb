/** Decides who may review the access of a key, or read its usage or history: each tells more of the key than its object does. */

import { evaluateHere } from '../access/scopes/evaluate.ts'
import { lacksChainReason } from '../access/users/privilege.ts'
import type { UserInfo } from '../access/users/user.ts'
import { groupVersion } from '../engine/meta/groupversion.ts'
import type { JsonObject, KubeObject } from '../engine/meta/types.ts'
import { defined } from '../engine/meta/value/defined.ts'
import { attributesOf } from '../engine/registry/attributes.ts'
import type { RequestContext, VirtualRequest } from '../engine/registry/kind.ts'
import { getObject } from '../engine/registry/read.ts'
import type { Stored } from '../engine/storage/interface.ts'
import { KINDS } from '../kinds.ts'
import { toKey } from './ownedaccesskey.values.ts'
import type { Services } from './services.ts'

/** The access rule of a subresource, for users who may see the key. */
export interface SubresourceRule {
  /** The verb that the user must be allowed for the key itself. Absent: the request for the subresource must be allowed. */
  as?: string
  /** Returns why the user may not use the subresource of this key (403), or undefined. */
  forbids(user: UserInfo, key: Stored, services: Pick<Services, 'scopes'>): string | undefined
}

/** Who may read a key may review it. About a key with less scopes than its own, a scoped key would learn what they keep from it. */
export const accessReviewRule: SubresourceRule = {
  as: 'get',
  forbids(user, stored, { scopes }) {
    const { name = '' } = stored.object.metadata
    const decision = evaluateHere(user.chain, KINDS.OwnedAccessKey, { verb: 'get', name }, scopes)
    return decision.allowed ? lacksChainReason(user, toKey(stored), 'access key') : decision.reason
  },
}

/** Returns the key, which the scopes must allow to read, too. Throws 403 or 404. */
export async function readReviewedKey(
  { name, subresource, verb }: { name: string; subresource: string; verb?: string },
  context: RequestContext,
  services: Services,
): Promise<Stored> {
  // Its refusal names the entry that is missing.
  await services.checkAllowed(context, attributesOf(KINDS.OwnedAccessKey, { verb: 'get', name }))
  const asked = { namespace: '', name, subresource, ...(verb && { verb }) }
  return getObject(services.keyStore(), asked, context)
}

/** Returns an object about a key that the user may review, with the status that the function makes. Throws 403 or 404. */
export async function readAboutKey(
  row: { kind: string; group: string; version: string; subresource: string },
  { name, context }: Omit<VirtualRequest, 'object'>,
  services: Services,
  statusOf: (stored: Stored) => Promise<JsonObject>,
): Promise<KubeObject> {
  const stored = await readReviewedKey({ name, subresource: row.subresource }, context, services)
  const { uid, creationTimestamp } = stored.object.metadata
  const status = await statusOf(stored)
  context.note('reviewedKey', name)
  const metadata = defined({ name, uid, creationTimestamp })
  return { apiVersion: groupVersion(row), kind: row.kind, metadata, status }
}
