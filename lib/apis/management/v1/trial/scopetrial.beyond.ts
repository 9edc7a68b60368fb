/** Evaluates the trials of scopes beside a request for a key that must carry the scopes of the request. */
import { beyondChain } from '../../../../authorization/users/privilege.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import type { Stored } from '../../../../storage/interface.ts'
import { toKey } from '../ownedaccesskey.values.ts'
import type { Services } from '../services.ts'

/** Records that the smaller scope would refuse `what`, because the key does not carry it, and warns of that. */
export async function tryBeyond(
  what: string,
  stored: Stored,
  context: RequestContext,
  { tried }: Pick<Services, 'tried'>,
): Promise<void> {
  const { user } = context
  if (!user.trials || beyondChain(user, toKey(stored), '') !== undefined) return
  const isRefusedBy = (smaller: object) => beyondChain({ ...user, chain: [smaller] }, toKey(stored), '') !== undefined
  await tried(context, isRefusedBy, { request: `${what} of access keys that do not carry the scope` })
}
