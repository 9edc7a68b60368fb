/**
 * Answers with a cached credential, and asks for a new one when that is due. Of processes that need the same credential, one asks at a
 * time. The others wait, and find its answer in the cache.
 */
import { join } from 'node:path'
import { LockError, withLock } from '../../../core/src/files/lock.ts'
import { cacheFolder } from '../config/paths.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { openFolder } from './cachefolder.ts'
import { cleanUp } from './cleanup.ts'
import type { Credential } from './credential.ts'
import { type Entry, entryName, type Owner, ownerMark, readEntry, removeEntry, writeEntry } from './entry.ts'
import { ageOf, type Early, earlyNow, mayBeEarly, secondsLeft } from './lifetime.ts'
import { rememberGiven, wasGiven } from './parents.ts'

export interface Issued {
  credential: Credential
  /** The lifetime that was asked for. */
  seconds: number
}

export interface Wanted {
  owner: Owner
  /** What the credential is for, and in which form: a text that differs for each. */
  target: string
  /** Asks the server. Throws a CliError, which says whether the server was unavailable. */
  issue(signal: AbortSignal): Promise<Issued>
  /** The part of its life after which the credential is renewed; 1 if it cannot be renewed before its end. */
  renewedAt?: number
  /** The program that asks, if it asks again only when the credential is refused or over. */
  parent?: string | undefined
  /** Whether a new one is asked for in any case. */
  refresh?: boolean | undefined
}

interface Cache {
  folder: string
  name: string
  renewedAt: number | undefined
  /** When the credential arrived that is to be replaced although it is fresh. */
  refused?: number | undefined
  /** Says once that the folder cannot be written. */
  unwritable(error: unknown): void
}

/** How long the server may take: less than the age at which a lock is abandoned. */
const REQUEST_MILLISECONDS = 25_000
/** The same while there is a credential to use. */
const RENEWAL_MILLISECONDS = 5000
/** How long a server that failed is not asked again while there is a credential to use. */
const REST_MILLISECONDS = 10_000

/** Returns a credential from the cache or from the server. Without a usable cache folder it says so and asks the server. */
export async function cachedCredential(io: Io, wanted: Wanted): Promise<Credential> {
  const cache = await openCache(io, wanted)
  if (cache === undefined) return (await ask(io, wanted, REQUEST_MILLISECONDS)).credential
  const turn = { ...cache, refused: refusedOne(io, cache, wanted) }
  const credential = knownAnswer(io, turn) ?? (await askInTurn(io, turn, wanted))
  if (wanted.parent !== undefined) await rememberParent(cache, wanted.parent)
  return credential
}

async function rememberParent({ folder, name }: Cache, parent: string): Promise<void> {
  const received = readEntry(folder, name)?.received
  if (received !== undefined) await rememberGiven(folder, name, parent, received)
}

/** Returns when the credential arrived that is to be replaced before that is due. */
function refusedOne(io: Io, { folder, name, renewedAt }: Cache, { parent, refresh }: Wanted): number | undefined {
  if (parent === undefined && !refresh) return undefined
  const entry = readEntry(folder, name)
  if (entry === undefined || ageOf(entry, io.now(), renewedAt) !== 'fresh') return undefined
  if (refresh) return entry.received
  if (parent === undefined || !wasGiven(folder, name, parent, entry.received)) return undefined
  return mayBeEarly(entry.early, io.now()) ? entry.received : undefined
}

async function openCache(io: Io, { owner, target, renewedAt }: Wanted): Promise<Cache | undefined> {
  try {
    const folder = cacheFolder(io)
    await openFolder(folder)
    let said = false
    const unwritable = (error: unknown) => {
      if (!said) noteNoCache(io, error)
      said = true
    }
    return { folder, name: entryName(owner, target), renewedAt, unwritable }
  } catch (error) {
    noteNoCache(io, error)
    return undefined
  }
}

const noteNoCache = (io: Io, error: unknown): void =>
  note(io, `keyplane works without its cache, so it asks the server each time: ${(error as Error).message}`)

/** Returns the credential if the server need not be asked: a fresh one, or an old one soon after the server has failed. */
function knownAnswer(io: Io, cache: Cache): Credential | undefined {
  const entry = usableEntry(io, cache)
  if (entry === undefined) return undefined
  if (entry.received !== cache.refused && ageOf(entry, io.now(), cache.renewedAt) === 'fresh') return entry.credential
  const { failure } = entry
  if (failure === undefined || Math.abs(io.now().getTime() - failure.at) >= REST_MILLISECONDS) return undefined
  noteOld(io, entry, failure.message)
  return entry.credential
}

/** Asks the server, one process at a time. A process that has waited too long asks without its turn. */
async function askInTurn(io: Io, cache: Cache, wanted: Wanted): Promise<Credential> {
  try {
    const lock = join(cache.folder, `${cache.name}.lock`)
    return await withLock(lock, io, async () => knownAnswer(io, cache) ?? (await fetchNew(io, cache, wanted)))
  } catch (error) {
    if (!(error instanceof LockError)) throw error
    if (!error.isHeld) cache.unwritable(error)
    const entry = error.isHeld ? usableEntry(io, cache) : undefined
    if (entry === undefined) return fetchNew(io, cache, wanted)
    noteOld(io, entry, 'another process is still waiting for a new one')
    return entry.credential
  }
}

/** Asks the server and keeps its answer. If the server is unavailable, an old credential that still lives will do. */
async function fetchNew(io: Io, cache: Cache, wanted: Wanted): Promise<Credential> {
  const old = usableEntry(io, cache)
  const isEarly = cache.refused !== undefined && !wanted.refresh
  const before = readEntry(cache.folder, cache.name)?.early
  const early = isEarly ? earlyNow(before, io.now()) : before
  try {
    const received = io.now()
    const issued = await ask(io, wanted, old === undefined ? REQUEST_MILLISECONDS : RENEWAL_MILLISECONDS)
    await keep(io, cache, wanted.owner, { ...issued, received, early })
    return issued.credential
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    if (!error.unavailable) removeEntry(cache.folder, cache.name)
    if (!error.unavailable || old === undefined || ageOf(old, io.now()) === 'over') throw error
    await keepFailure(io, cache, wanted.owner, { ...old, ...(early && { early }) }, error.message)
    noteOld(io, old, error.message)
    return old.credential
  }
}

function usableEntry(io: Io, { folder, name }: Cache): Entry | undefined {
  const entry = readEntry(folder, name)
  return entry === undefined || ageOf(entry, io.now()) === 'over' ? undefined : entry
}

async function ask(io: Io, { issue, owner }: Wanted, milliseconds: number): Promise<Issued> {
  const limit = AbortSignal.timeout(milliseconds)
  try {
    return await issue(AbortSignal.any([io.signal, limit]))
  } catch (error) {
    if (error instanceof CliError || io.signal.aborted || !limit.aborted) throw error
    throw new CliError(`${owner.server} did not answer within ${milliseconds / 1000} s.`, {
      hint: 'Check the network, then try again.',
      unavailable: true,
      cause: error,
    })
  }
}

/** Keeps a credential that another request has brought. Without a usable cache folder, nothing is kept. */
export async function keepCredential(io: Io, of: Pick<Wanted, 'owner' | 'target'>, issued: Issued): Promise<void> {
  const cache = await openCache(io, { ...of, issue: async () => issued })
  if (cache !== undefined) await keep(io, cache, of.owner, { ...issued, received: io.now(), early: undefined })
}

async function keep(
  io: Io,
  { folder, name, unwritable }: Cache,
  owner: Owner,
  { credential, seconds, received, early }: Issued & { received: Date; early: Early | undefined },
): Promise<void> {
  const left = secondsLeft(credential.expirationTimestamp, seconds, received)
  if (left <= 0) {
    note(
      io,
      `The credential expired at ${credential.expirationTimestamp} by the clock of this machine: check that clock.`,
    )
    return
  }
  try {
    const lifetime = { received: received.getTime(), seconds: left }
    await writeEntry(folder, name, ownerMark(owner), { ...lifetime, credential, ...(early && { early }) })
    cleanUp(folder, io.now())
  } catch (error) {
    unwritable(error)
  }
}

/** Without the record, the next process asks again. */
async function keepFailure(io: Io, cache: Cache, owner: Owner, old: Entry, message: string): Promise<void> {
  // A process that did not wait for its turn may have replaced or removed the entry.
  if (usableEntry(io, cache)?.received !== old.received) return
  const failure = { at: io.now().getTime(), message }
  await writeEntry(cache.folder, cache.name, ownerMark(owner), { ...old, failure }).catch(() => {})
}

function noteOld(io: Io, { credential: { expirationTimestamp } }: Entry, why: string): void {
  const until = expirationTimestamp === undefined ? '' : `, which lives until ${expirationTimestamp}`
  note(io, `keyplane uses the credential in its cache${until}: ${why.split('\n')[0]}`)
}
