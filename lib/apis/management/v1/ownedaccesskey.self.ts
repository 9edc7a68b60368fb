/** Guards the changes that an access key makes to itself. */
import { decodeKeyInternal } from '../../../authentication/keyinternal.ts'
import { REQUEST_SECONDS } from '../../../authentication/keystatus.ts'
import { findValue, generationOf, sameHash } from '../../../authentication/values/keyvalues.ts'
import type { UserInfo } from '../../../authorization/users/user.ts'
import { KINDS } from '../../../kinds/kinds.ts'
import { alreadyExists, conflict } from '../../../meta/errors/status.ts'
import { type Draft, groupResource } from '../../../registry/kind.ts'
import type { Stored } from '../../../storage/interface.ts'
import type { KeyPlan } from './ownedaccesskey.plan.ts'

const resource = groupResource(KINDS.OwnedAccessKey)

const CHANGED = 'the access key of the request has been changed since the request was allowed'
const RETIRING = 'the value of the access key of the request was rotated: replace the value with the new one'

/**
 * Throws 409 if a key changes itself after it was changed since the request was allowed, or after the value of the request
 * ended. Otherwise a request in flight could undo that somebody disabled, narrowed, rotated or deleted the key. A retry is
 * authorized again. Throws 409 as well if a retiring value would replace the new one.
 */
export function checkUnchanged({ key, credential }: UserInfo, draft: Draft<KeyPlan>, old: Stored | undefined): void {
  const { name = '', uid, generation = 0 } = (old?.object ?? draft.object).metadata
  if (!old && name === key.name && key.uid !== '') throw alreadyExists(resource, name)
  if (!old || uid !== key.uid) return
  // An authorizer of an earlier version passes no credential.
  const before = credential ? findValue(decodeKeyInternal(old.internal), credential) : { state: 'Current' as const }
  const settled = draft.plan?.update?.settled ?? decodeKeyInternal(draft.internal)
  const now = credential ? findValue(settled, credential) : before
  if (before === undefined || now === undefined) throw conflict(resource, name, CHANGED)
  // The request may have begun before the new value was used. A brief overlap may be over before the request is.
  const { overlap = 0 } = decodeKeyInternal(old.internal).pending ?? {}
  if (before.state === 'Current' && now.state === 'Retiring' && overlap < REQUEST_SECONDS) {
    throw conflict(resource, name, CHANGED)
  }
  if (key.generation !== undefined && key.generation !== generationOf(before, generation)) {
    throw conflict(resource, name, CHANGED)
  }
  const isReplaced = !sameHash(decodeKeyInternal(draft.internal).credential, settled.credential)
  if (isReplaced && now.state === 'Retiring') throw conflict(resource, name, RETIRING)
}
