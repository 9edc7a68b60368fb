/** Runs a revocation: selects the keys, then disables or deletes them side by side, until they are done or the time is up. */
import { type FieldError, invalid } from '../../../../meta/errors/fielderror.ts'
import { invalidObject } from '../../../../meta/errors/status.ts'
import type { JsonObject } from '../../../../meta/types.ts'
import { byBytes } from '../../../../meta/value/byteorder.ts'
import type { RequestContext } from '../../../../registry/kind.ts'
import { objectKey } from '../../../../registry/store.ts'
import { group } from '../group.ts'
import { toKey } from '../ownedaccesskey.values.ts'
import type { Services } from '../services.ts'
import { findKeys, showHints } from './accesskeyrevocation.find.ts'
import { createRevoker, type Revoked } from './accesskeyrevocation.revoker.ts'
import type { RevocationSpec } from './accesskeyrevocation.schema.ts'
import { isAllowed, mayRevoke, selects } from './accesskeyrevocation.selection.ts'
import { validateRevocation } from './accesskeyrevocation.validate.ts'

const refused = (errors: readonly FieldError[]) => invalidObject(group, 'AccessKeyRevocation', '', errors)

/** Revokes the selected keys. Returns the status. Throws 422 before anything is written, and 401 once the user's key ends. */
export async function revokeKeys(
  services: Services,
  asked: RevocationSpec,
  manager: string,
  context: RequestContext,
): Promise<JsonObject> {
  const { user, now, warn, note } = context
  const errors = validateRevocation(asked, now)
  if (errors.length > 0) throw refused(errors)
  const maker = asked.madeWith && (await makerOf(services, asked.madeWith, context))
  const isSelected = selects(asked, maker)
  const isReachable = mayRevoke(user, asked, services)
  const test: typeof isSelected = (stored) => isReachable(stored) && isSelected(stored)
  const found = await findKeys(services, asked, test, context)
  if (found.isSelfSpared) {
    warn(`your own access key ${JSON.stringify(user.key.name)} matches and is spared, unless spec.includeSelf is set`)
  }
  if (asked.names) warnAboutMissing(new Set(asked.names).size - found.keys.length - Number(found.isSelfSpared), warn)
  if (asked.atMost !== undefined && found.keys.length > asked.atMost) {
    const why = `the request selects ${found.keys.length} access keys, and has changed nothing`
    throw refused([invalid('spec.atMost', asked.atMost, why)])
  }
  const revoked: Revoked = { names: [], failures: [], failed: 0, remaining: false }
  try {
    await createRevoker(services, { asked, manager, test }, context).revokeAll(found.keys, revoked)
  } finally {
    // Keys are changed side by side: the record names them in the order of their names.
    note('count', revoked.names.length)
    note('names', revoked.names.sort(byBytes))
    if (revoked.failed > 0) note('failed', revoked.failed)
  }
  return {
    matched: found.keys.length,
    done: revoked.names.length,
    failed: revoked.failed,
    remaining: revoked.remaining,
    byOwner: found.byOwner,
    keys: await showHints(services, found.shown),
    ...(revoked.failures.length > 0 && { failures: revoked.failures }),
  }
}

function warnAboutMissing(missing: number, warn: RequestContext['warn']): void {
  if (missing <= 0) return
  warn(`spec.names: ${missing} of the names match no access key that you may revoke, or that is left to revoke`)
}

/** Returns the uid of the key in `spec.madeWith`. Throws 422 if no key that the user may see has its name. */
async function makerOf(
  services: Services,
  { name, uid }: NonNullable<RevocationSpec['madeWith']>,
  { user }: RequestContext,
): Promise<string> {
  if (name === undefined) return uid ?? ''
  const { kind, storage } = services.keyStore()
  const stored = await storage.get(kind.table, objectKey('', name))
  const isVisible = stored !== undefined && isAllowed({ verb: 'list', name }, user, toKey(stored), services.scopes)
  const live = isVisible ? stored.object.metadata.uid : undefined
  if (live === undefined && uid === undefined) {
    const why = 'you may see no access key with this name: give the uid of a deleted one'
    throw refused([invalid('spec.madeWith.name', name, why)])
  }
  if (live !== undefined && uid !== undefined && live !== uid) {
    throw refused([invalid('spec.madeWith.uid', uid, `the access key ${JSON.stringify(name)} has another uid`)])
  }
  return uid ?? live ?? ''
}
