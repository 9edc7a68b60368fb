/**
 * Records what keys do (docs/usage.md). Each process writes an entry of a key once a day, so a request that repeats one costs
 * no write. Beyond 64 entries of a key in a day it records only that there are more. What changes something has a limit of its own, and so
 * has what the scopes of a key refuse: a flood of reads hides no change, and a flood of refusals nothing that the key did.
 */

import { type UsedPlace, usedEntry } from '../../access/advice/usedentry.ts'
import type { Attributes } from '../../access/attributes/attributes.ts'
import type { ScopeOptions } from '../../access/scopes/project.ts'
import type { ScopeChain } from '../../access/scopes/scope.ts'
import type { SpaceOptions } from '../../access/scopes/space.ts'
import type { CompanionItem, Storage } from '../../engine/storage/interface.ts'
import { dayOf } from '../credential/keptitems.ts'
import { placeName, type UsageFact, usageItem } from './items.ts'

/** A key, and the generation of its spec: another scope may tell names apart. */
export interface UsedKey {
  uid: string
  generation?: number | undefined
}

export interface UsageRecorder {
  /** Records a request that the chain of a key allowed, here or at the cluster that asked. Never rejects. */
  used(key: UsedKey, chain: ScopeChain, attributes: Attributes, place?: UsedPlace): Promise<void>
  /**
   * Records a request that the chain of a key refused, here or at the cluster that asked. `isLive` says whether the key gives access; it is
   * asked only before something is written. Never rejects.
   */
  refused(
    key: Pick<UsedKey, 'uid'>,
    chain: ScopeChain,
    attributes: Attributes,
    place?: UsedPlace,
    isLive?: () => Promise<boolean>,
  ): Promise<void>
  /** Records that a cluster accepted a key by itself. Never rejects. */
  accepted(key: UsedKey, place: UsedPlace): Promise<void>
}

interface Deps {
  storage: Pick<Storage, 'writeCompanion'>
  scopes: ScopeOptions & SpaceOptions
  /** Unix ms. */
  now(): number
  /** Receives the error of a failed write, which fails no request. */
  failed(error: unknown): void
}

/** What this process has written of a key today. */
interface Known {
  /** Requests, with names, that need nothing more. They save computing the entry. */
  requests: Set<string>
  /** The sort keys of the items, in the share to which each belongs. */
  reads: Set<string>
  changes: Set<string>
}

type Share = 'reads' | 'changes'

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options'])

/** Returns the share of a request. Unknown verbs of clusters may change something. */
const shareOf = ({ verb }: Attributes): Share => (READ_VERBS.has(verb) ? 'reads' : 'changes')

/** The most entries of a share. */
const MOST_ENTRIES = 64
const MOST_REFUSED = 32
/** Limits the memory. A full one forgets everything, so that entries are written again. */
const MOST_REQUESTS = 20_000
/** The most items that could not be written. */
const MOST_OWED = 1000
/** The most that a request writes. */
const MOST_AT_ONCE = 10
/** The longest that a request waits, in milliseconds. */
const WAIT_MS = 1000
/** How long nothing is written after a failure, in milliseconds: the table may be throttled. */
const PAUSE_MS = 10_000

/** Records nothing. */
export const noUsage: UsageRecorder = { used: async () => {}, refused: async () => {}, accepted: async () => {} }

/** Returns the recorder of a process. */
export function createUsageRecorder({ storage, scopes, now, failed }: Deps): UsageRecorder {
  let today = ''
  let pausedUntil = 0
  const keys = new Map<string, Known>()
  /** How many requests are remembered of all keys. */
  let remembered = 0
  /** The items that are to be written, by partition and sort key. If one cannot be, a later request writes it. */
  const owed = new Map<string, CompanionItem>()

  /** Returns the time in unix seconds. Forgets what was written on another day. */
  function start(): number {
    const at = Math.floor(now() / 1000)
    const day = dayOf(at)
    if (day !== today) {
      forget()
      today = day
    }
    return at
  }

  function forget(): void {
    keys.clear()
    remembered = 0
  }

  function knownOf(id: string): Known {
    const known = keys.get(id) ?? { requests: new Set(), reads: new Set(), changes: new Set() }
    keys.set(id, known)
    return known
  }

  /** Writes items that are owed. */
  async function flush(): Promise<void> {
    if (now() < pausedUntil) return
    const end = now() + WAIT_MS
    const some = [...owed].slice(-MOST_AT_ONCE)
    // Requests of the same moment need not write them as well.
    for (const [id] of some) owed.delete(id)
    try {
      await Promise.all(some.map(([, one]) => storage.writeCompanion(one, { deadline: () => end - now() })))
    } catch (error) {
      pausedUntil = now() + PAUSE_MS
      for (const [, one] of some) owe(one)
      failed(error)
    }
  }

  /** Remembers an item that is to be written. Of too many, it forgets the oldest. */
  function owe(item: CompanionItem): void {
    owed.set(`${item.pk} ${item.sk}`, item)
    const [oldest] = owed.size > MOST_OWED ? owed.keys() : []
    if (oldest !== undefined) owed.delete(oldest)
  }

  const knownUse = ({ uid, generation = 0 }: UsedKey): Known => knownOf(`${uid} ${generation}`)

  async function record(uid: string, items: Set<string>, fact: UsageFact, at: number): Promise<void> {
    const exact = usageItem(uid, fact, at)
    const item = items.has(exact.sk) || items.size < MOST_ENTRIES ? exact : usageItem(uid, 'others', at)
    if (items.has(item.sk)) return
    items.add(item.sk)
    owe(item)
    await flush()
  }

  return {
    async used(key, chain, attributes, place) {
      const at = start()
      const known = knownUse(key)
      const request = requestOf(attributes, place)
      if (known.requests.has(request)) return owed.size > 0 ? flush() : undefined
      if (remembered >= MOST_REQUESTS) forget()
      remembered++
      known.requests.add(request)
      const entry = usedEntry(chain, attributes, place, scopes)
      // An entry says that the cluster asked, too.
      const fact: UsageFact | undefined = entry ? { entry } : place && { asked: place }
      if (fact) await record(key.uid, known[shareOf(attributes)], fact, at)
    },
    async refused({ uid }, chain, attributes, place, isLive) {
      const at = start()
      const items = knownOf(`refused ${uid}`)[shareOf(attributes)]
      if (items.size > MOST_REFUSED) return
      const entry = usedEntry(chain, attributes, place, scopes)
      const item = usageItem(uid, { refused: items.size < MOST_REFUSED ? entry : undefined }, at)
      // Requests are not remembered, because they differ in the names of objects as often as somebody likes.
      if (items.has(item.sk)) return
      if (++remembered > MOST_REQUESTS) forget()
      items.add(item.sk)
      try {
        if (isLive && !(await isLive())) return
      } catch (error) {
        items.delete(item.sk)
        return failed(error)
      }
      owe(item)
      await flush()
    },
    async accepted(key, place) {
      const at = start()
      await record(key.uid, knownUse(key).reads, { accepted: place }, at)
    },
  }
}

/** Returns a text for the request, which no other one has. */
function requestOf(attributes: Attributes, place: UsedPlace | undefined): string {
  const where = place && placeName(place)
  if (attributes.kind === 'nonresource') return JSON.stringify([attributes.verb, attributes.path, where])
  const { verb, group, resource, subresource, namespace, name, allNamespaces } = attributes
  return JSON.stringify([verb, group, resource, subresource, namespace, name, allNamespaces, where])
}
