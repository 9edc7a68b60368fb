/** Connects authentication to the store, for the authorizer, TokenReview and Self. */
import { table } from '../apis/management/v1/ownedaccesskey.table.ts'
import { credentialItemKey } from '../authentication/credential.ts'
import type { LifeLimits } from '../authentication/keystatus.ts'
import type { KeyHash } from '../authentication/pepper.ts'
import type { AuthenticationDeps } from '../authentication/requests/authenticate.ts'
import type { JudgeDeps } from '../authentication/values/judge.ts'
import type { CompanionItem, Storage } from '../storage/interface.ts'
import { activityOf, sortKey } from '../storage/keys.ts'
import { createSignalMemory, type SignalMemory } from './signalmemory.ts'

/** The parts of the server that authentication uses. */
interface KeyStore {
  storage: Storage
  hashes(key: string): Promise<readonly KeyHash[]>
  limits: LifeLimits
  /** See `AuthenticationDeps`. */
  recordSources?: boolean
}

/** The longest that a request waits for a signal, in milliseconds. */
const signalMs = 1000

/** The signals that this process has written to each store. */
const memories = new WeakMap<Storage, SignalMemory>()

/** Puts the signal, unless this process has done so. `failed` receives the error. Never rejects. */
async function writeSignal(storage: Storage, item: CompanionItem, failed: (error: unknown) => void): Promise<void> {
  const written = memories.get(storage) ?? createSignalMemory()
  memories.set(storage, written)
  if (written.has(item)) return
  const end = performance.now() + signalMs
  try {
    await storage.createCompanion(item, { deadline: () => end - performance.now() })
    written.add(item)
  } catch (error) {
    failed(error)
  }
}

/** Returns what judging a value reads. */
export function judgeDeps({ storage, limits }: Pick<KeyStore, 'storage' | 'limits'>): JudgeDeps {
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
      const item = await storage.getCompanion(activityOf(table.resource), sortKey(name))
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
export function authenticationDeps(server: KeyStore, failed: (error: unknown) => void): AuthenticationDeps {
  const { storage, hashes } = server
  return {
    ...judgeDeps(server),
    hashes,
    recordSources: server.recordSources === true,
    touch: ({ hash, name, uid, at, attributes, same, lacks, noted, signal }) =>
      storage.touchActivity({
        table,
        key: name,
        uid,
        at: at * 1000,
        credential: { ...credentialItemKey(hash), lastActivity: at, attributes, same, lacks },
        ...(noted && { noted }),
        ...(signal && { also: [signal] }),
      }),
    signal: (item) => writeSignal(storage, item, failed),
    touchFailed: failed,
  }
}
