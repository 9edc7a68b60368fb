/** Connects authentication to the store, and to what records the use of keys. */

import { activityOf, sortKey } from '../engine/storage/keys.ts'
import { getCompanion } from '../engine/storage/readcompanions.ts'
import { credentialItemKey } from '../keys/credential/credential.ts'
import { table } from '../keys/ownedaccesskey.table.ts'
import type { Admitting } from '../keys/requests/admit.ts'
import type { AuthenticationDeps, LivingKey } from '../keys/requests/authenticate.ts'
import { confirmFirstUse, recordActivity } from '../keys/requests/uses.ts'
import type { JudgeDeps } from '../keys/values/judge.ts'
import type { AuthenticatingServer } from './authenticating.ts'
import { signalWriter } from './signals.ts'

/** Returns what judging a value reads. */
export function judgeDeps({ storage, limits }: Pick<AuthenticatingServer, 'storage' | 'limits'>): JudgeDeps {
  return {
    ...limits,
    async readCredential(candidates) {
      const items = await storage.getCompanions(candidates.map(credentialItemKey))
      const found = candidates.flatMap((hash, index) => {
        const item = items[index]
        return item ? [{ hash, item: item.attributes }] : []
      })
      return found[0]
    },
    async readActivity({ name, uid }) {
      const item = await getCompanion(storage, { pk: activityOf(table.resource), sk: sortKey(name) })
      const { at, uid: owner } = item?.attributes ?? {}
      return typeof at === 'number' && owner === uid ? Math.floor(at / 1000) : undefined
    },
    readGates: (keys) => storage.getCompanions(keys),
    now: Date.now,
  }
}

/**
 * Returns the dependencies of `authenticate`. `failed` receives errors of writing the last activity, and of signals, which
 * do not fail the request.
 */
export function authenticationDeps(
  server: Pick<AuthenticatingServer, 'storage' | 'limits' | 'hashes' | 'recordSources'>,
  failed: (error: unknown) => void,
): AuthenticationDeps {
  const { storage, hashes, recordSources } = server
  return {
    ...judgeDeps(server),
    hashes,
    recordSources,
    touch: ({ hash, name, uid, at, attributes, same, lacks, noted, also }) =>
      storage.touchActivity({
        table,
        key: name,
        uid,
        at: at * 1000,
        credential: { ...credentialItemKey(hash), lastActivity: at, attributes, same, lacks },
        ...(noted && { noted }),
        also,
      }),
    signal: signalWriter(storage, failed),
    touchFailed: failed,
  }
}

/** Returns how a key is judged whose value was presented. */
export const admitting = (
  { scopes, usage }: Pick<AuthenticatingServer, 'scopes' | 'usage'>,
  deps: AuthenticationDeps,
): Admitting<LivingKey> => ({
  scopes,
  usage,
  async confirm({ user, presented }) {
    const ended = await confirmFirstUse(presented, deps)
    return ended ? { ended } : { user }
  },
  touch: ({ presented }) => recordActivity(presented, deps),
})
