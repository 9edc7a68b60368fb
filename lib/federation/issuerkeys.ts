/**
 * Verifies ID tokens with the keys of their issuer. Keys are pinned, or come from memory, from the table or over HTTPS. All
 * functions together fetch the keys of a provider at most once a minute, whichever tokens they receive.
 */

import type { JsonObject } from '../engine/meta/types.ts'
import type { CompanionItem, Storage } from '../engine/storage/interface.ts'
import { getCompanion } from '../engine/storage/readcompanions.ts'
import { fitsAlgorithm } from './algorithms.ts'
import { type FetchedKeys, type KeySource, UnusableAnswer } from './discovery.ts'
import type { IdToken } from './idtoken.ts'
import { normalizeKeySet, type PublicKey, parseKeySet } from './jwks.ts'
import { algorithmsOf, type Provider } from './provider.ts'
import { verifySignature } from './verify.ts'

type Verdict =
  | 'valid'
  /** No key of the issuer has signed the token. */
  | 'invalid'
  | Unknown

/** Whether the token is valid cannot be said yet. */
interface Unknown {
  /** What is not known: every key of the issuer, or only the one whose id the token names. */
  unknown: 'keys' | 'key'
  /** Seconds until the next fetch. */
  retryAfter: number
}

export interface IssuerKeys {
  /** Verifies the signature of a token, not its claims and times. Throws a StorageError if the table fails. */
  verify(provider: Provider, token: IdToken): Promise<Verdict>
}

/** Learns what happens, for metrics and the log. */
export interface IssuerKeysObserver {
  /** The keys have been fetched and stored, or an error says why not. */
  fetched(provider: Provider, error?: unknown): void
  /** A token is verified with keys that should have been fetched again. */
  stale(provider: Provider, ageSeconds: number): void
}

interface IssuerKeysDeps {
  storage: Pick<Storage, 'getCompanions' | 'writeCompanion'>
  fetch(source: KeySource): Promise<FetchedKeys>
  observer: IssuerKeysObserver
  /** Unix ms. */
  now(): number
  sleep(ms: number): Promise<void>
}

const second = 1000
const minute = 60 * second

/** How long keys stay in memory, at most: how late a function learns what others have fetched. */
const MEMORY_MS = 5 * minute
/** How long fetched keys are fresh. Cache-Control of the issuer may shorten it, but not below a minute. */
const FRESH_MS = 10 * minute
/** How long keys are used when fetching fails. */
const STALE_MS = 60 * minute
/** The least time between two fetches of a provider's keys. Failed ones count. */
const BETWEEN_FETCHES_MS = minute
/** How long after its start a fetch may still change the item: 5 s for the requests, and the writes. */
const FETCH_MS = 10 * second
/** A state of the table that was read this recently is not read again. */
const RECENT_MS = second
/** How often, and how many times, to look for the keys that another function is fetching. */
const POLL_MS = 250
const POLLS = 8
/** How long a write of the item may be retried. */
const WRITE_MS = 3 * second

/** What this function knows about the keys of a provider. */
interface Known extends KeyState {
  /** The item as it was read or written last. */
  item: CompanionItem | undefined
  /** When it was. */
  readAt: number
  /** Whether the last attempt was made here and failed. */
  hasFailed: boolean
}

/** Creates the keys of all issuers. Create them once per process, because they remember keys and attempts. */
export function createIssuerKeys({ storage, fetch, observer, now, sleep }: IssuerKeysDeps): IssuerKeys {
  const memory = new Map<string, Known>()
  const pinned = new Map<string, { text: string; keys: readonly PublicKey[] }>()
  /** The attempts of others that this function has waited for, by provider: once each. */
  const awaited = new Map<string, number>()

  /** Clocks of functions differ a little, so a time may be ahead. A time that is far ahead counts for nothing. */
  const isWithin = (time: number, ms: number) => Math.abs(now() - time) < ms

  const isFresh = ({ keys, fetchedAt, freshFor }: Known) => keys.length > 0 && isWithin(fetchedAt, freshFor)
  const wasAttempted = ({ attemptedAt }: Known) => isWithin(attemptedAt, BETWEEN_FETCHES_MS)
  /** Reports whether another function may be fetching the keys. */
  const isPending = ({ attemptedAt, fetchedAt, hasFailed }: Known) =>
    fetchedAt < attemptedAt && !hasFailed && isWithin(attemptedAt, FETCH_MS)

  function remember({ uid }: Provider, known: Known): Known {
    memory.set(uid, known)
    return known
  }

  function recall({ uid, revision }: Provider): Known | undefined {
    const known = memory.get(uid)
    return known?.revision === revision && isWithin(known.readAt, MEMORY_MS) ? known : undefined
  }

  /** Reads the item. What belongs to an earlier revision of the provider does not count. */
  async function load(provider: Provider): Promise<Known> {
    const { pk, sk } = keyItemKey(provider.uid)
    const item = await getCompanion(storage, { pk, sk })
    const found = decodeKeyItem(item)
    const state =
      found && found.revision >= provider.revision
        ? found
        : { revision: provider.revision, attemptedAt: NEVER, keys: [], fetchedAt: NEVER, freshFor: 0 }
    return remember(provider, { ...state, item, readAt: now(), hasFailed: false })
  }

  /** Returns newer keys that others have fetched, or fetches them if that is allowed now. Otherwise returns `known`. */
  async function renew(provider: Provider, known: Known): Promise<Known> {
    const isRecent = isWithin(known.readAt, RECENT_MS)
    if (wasAttempted(known)) return isPending(known) && !isRecent ? load(provider) : known
    const current = isRecent ? known : await load(provider)
    // The provider has changed since the caller read it, so these keys are not those of the caller's provider.
    if (current.revision > provider.revision) return current
    if (current.fetchedAt > known.fetchedAt || wasAttempted(current)) return current
    const claimed = await write(provider, current, { ...current, attemptedAt: now() })
    return claimed ? fetchAnew(provider, claimed) : load(provider)
  }

  /** Writes the item if it is still as it was read. Returns undefined if another function was faster. */
  async function write(provider: Provider, before: Known, state: KeyState): Promise<Known | undefined> {
    const end = now() + WRITE_MS
    const after = encodeKeyItem(provider.uid, state)
    const item = await storage.writeCompanion({ ...after, when: { is: before.item } }, { deadline: () => end - now() })
    return item && remember(provider, { ...state, item, readAt: now(), hasFailed: false })
  }

  async function fetchAnew(provider: Provider, claimed: Known): Promise<Known> {
    let known = claimed
    try {
      const { keys, maxAgeSeconds = Number.POSITIVE_INFINITY } = await fetch(provider.spec)
      const usable = keys.filter((key) => algorithmsOf(provider.spec).some((alg) => fitsAlgorithm(key, alg)))
      if (usable.length === 0) throw new UnusableAnswer('the issuer has no usable keys')
      const freshFor = Math.min(Math.max(maxAgeSeconds * second, minute), FRESH_MS)
      known = { ...claimed, keys: usable, fetchedAt: claimed.attemptedAt, freshFor }
      const written = await write(provider, claimed, known)
      observer.fetched(provider)
      return written ?? load(provider)
    } catch (error) {
      observer.fetched(provider, error)
      return remember(provider, { ...known, hasFailed: true })
    }
  }

  /** Waits for the keys that another function is fetching, once for each fetch. */
  async function awaitFetch(provider: Provider, known: Known): Promise<Known> {
    if (!isPending(known) || awaited.get(provider.uid) === known.attemptedAt) return known
    awaited.set(provider.uid, known.attemptedAt)
    let current = known
    for (let polls = 0; polls < POLLS && isPending(current); polls++) {
      await sleep(POLL_MS)
      current = await load(provider)
    }
    return current
  }

  /** Returns the keys that may verify a token now. */
  function usableKeys({ revision }: Provider, known: Known): readonly PublicKey[] {
    return known.revision === revision && isWithin(known.fetchedAt, STALE_MS) ? known.keys : []
  }

  async function isSigned(provider: Provider, known: Known, token: IdToken): Promise<boolean> {
    const keys = usableKeys(provider, known)
    if (keys.length > 0 && !isFresh(known)) observer.stale(provider, Math.floor((now() - known.fetchedAt) / second))
    return verifySignature(token, keys)
  }

  /**
   * Returns the verdict on a token that no known key has signed. One that names an unknown key is refused only if the keys were
   * fetched after it had been `received`: the issuer may have the key since the fetch before.
   */
  function judgeUnsigned(provider: Provider, known: Known, { kid }: IdToken, received: number): Verdict {
    const keys = usableKeys(provider, known)
    const isNamed = kid === undefined || keys.some((key) => key.kid === kid)
    if (keys.length > 0 && (isNamed || known.fetchedAt >= received)) return 'invalid'
    const next = known.attemptedAt + (isPending(known) ? FETCH_MS : BETWEEN_FETCHES_MS)
    const wait = Math.min(Math.max(next - now(), second), BETWEEN_FETCHES_MS)
    return { unknown: keys.length > 0 ? 'key' : 'keys', retryAfter: Math.ceil(wait / second) }
  }

  function pinnedKeys(uid: string, text: string): readonly PublicKey[] {
    const found = pinned.get(uid)
    if (found?.text === text) return found.keys
    const keys = parseKeySet(text)
    pinned.set(uid, { text, keys })
    return keys
  }

  return {
    async verify(provider, token) {
      if (!algorithmsOf(provider.spec).includes(token.alg)) return 'invalid'
      if (provider.spec.jwks !== undefined) {
        const keys = pinnedKeys(provider.uid, provider.spec.jwks)
        return (await verifySignature(token, keys)) ? 'valid' : 'invalid'
      }
      const received = now()
      const recalled = recall(provider) ?? (await load(provider))
      let known = isFresh(recalled) ? recalled : await renew(provider, recalled)
      if (await isSigned(provider, known, token)) return 'valid'
      // The first round may find only what others have fetched, which may be older than the token's key.
      for (let rounds = 0; rounds < 2; rounds++) {
        const before = known.fetchedAt
        known = await awaitFetch(provider, await renew(provider, known))
        if (known.fetchedAt === before) break
        if (await isSigned(provider, known, token)) return 'valid'
      }
      return judgeUnsigned(provider, known, token, received)
    },
  }
}

/** The keys of a provider, and when they were fetched. Times are in unix ms. */
interface KeyState {
  /** The revision of the provider. With another one, neither the keys nor the attempt count. */
  revision: number
  /** When the last fetch began, successful or not. */
  attemptedAt: number
  /** The keys of the last successful fetch; empty before the first. */
  keys: readonly PublicKey[]
  /** When that fetch began. */
  fetchedAt: number
  /** How long the keys are fresh after that, in ms. */
  freshFor: number
}

const keyItemKey = (providerUid: string) => ({ pk: `jwks#${providerUid}`, sk: '#' })

/** How long the table keeps an item without a new attempt. */
const KEPT_SECONDS = 86_400

/** The time of what never happened: before every interval that ends now. */
const NEVER = Number.NEGATIVE_INFINITY

export function encodeKeyItem(providerUid: string, state: KeyState): CompanionItem {
  const { revision, attemptedAt, keys, fetchedAt, freshFor } = state
  const fetched = keys.length > 0 ? { keys: keys.map((key): JsonObject => key), fetchedAt, freshFor } : {}
  const expires = Math.ceil(attemptedAt / 1000) + KEPT_SECONDS
  return { ...keyItemKey(providerUid), attributes: { revision, attemptedAt, ...fetched, expires } }
}

/** Returns the state in an item. Returns undefined without an item, and for one that this version cannot read. */
function decodeKeyItem(item: CompanionItem | undefined): KeyState | undefined {
  const { revision, attemptedAt, keys = [], fetchedAt = NEVER, freshFor = 0 } = item?.attributes ?? {}
  if (typeof revision !== 'number' || typeof attemptedAt !== 'number') return undefined
  if (!Array.isArray(keys) || typeof fetchedAt !== 'number' || typeof freshFor !== 'number') return undefined
  return { revision, attemptedAt, keys: normalizeKeySet({ keys }), fetchedAt, freshFor }
}
