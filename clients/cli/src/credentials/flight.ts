/**
 * Answers with a cached credential, and asks for a new one when that is due. Of processes that need the same credential at the same
 * time, one asks. The others wait for what it gets, be it a credential or a refusal.
 */
import { join } from 'node:path'
import { type Lock, takeLock } from '../../../core/src/lock.ts'
import { cacheFolder } from '../config/paths.ts'
import { CliError } from '../io/errors.ts'
import type { Io } from '../io/io.ts'
import { note } from '../output/messages.ts'
import { openFolder } from './cachefolder.ts'
import { cleanUp } from './cleanup.ts'
import type { Credential } from './credential.ts'
import { type Entry, entryName, type Owner, ownerMark, readEntry, removeEntry, writeEntry } from './entry.ts'
import { errorOf, type Failure, isRecent, readFailure, removeFailure, writeFailure } from './failure.ts'
import { ageOf, secondsLeft } from './lifetime.ts'

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
}

interface Cache {
  folder: string
  name: string
  renewedAt: number | undefined
  /** Says once that the folder cannot be written. */
  unwritable(error: unknown): void
}

/**
 * How long a process waits for another one that asks for the same credential: 5 seconds, in turns. On a machine with far too much to do
 * the turns take longer, and so does the answer.
 */
const WAIT_TURNS = 125
const TURN_MILLISECONDS = 40
const LONGEST_WAIT_MILLISECONDS = 20_000
/** Nobody is harmed if a process that writes its lock later than this asks as well. */
const UNWRITTEN_MILLISECONDS = 500
/** How long the server may take: less than the age at which a lock is abandoned. */
const REQUEST_MILLISECONDS = 25_000
/** The same while there is a credential to use. */
const RENEWAL_MILLISECONDS = 5000

/** Returns a credential from the cache or from the server. Without a usable cache folder it says so and asks the server. */
export async function cachedCredential(io: Io, wanted: Wanted): Promise<Credential> {
  const cache = openCache(io, wanted)
  return cache === undefined ? (await ask(io, wanted, REQUEST_MILLISECONDS)).credential : share(io, cache, wanted)
}

function openCache(io: Io, { owner, target, renewedAt }: Wanted): Cache | undefined {
  try {
    const folder = cacheFolder(io)
    openFolder(folder)
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

async function share(io: Io, cache: Cache, wanted: Wanted): Promise<Credential> {
  const { folder, name } = cache
  const options = {
    pause: (milliseconds: number) => io.pause(milliseconds),
    unwrittenMilliseconds: UNWRITTEN_MILLISECONDS,
  }
  const waitedFor = new Set<string>()
  const deadline = io.elapsed() + LONGEST_WAIT_MILLISECONDS
  for (let turn = 1; ; turn++) {
    const known = knownAnswer(io, cache, waitedFor)
    if (known !== undefined) return known
    let taken: Awaited<ReturnType<typeof takeLock>>
    try {
      taken = await takeLock(join(folder, `${name}.lock`), options)
    } catch (error) {
      cache.unwritable(error)
      return fetchNew(io, cache, wanted)
    }
    if ('release' in taken) return fly(io, cache, wanted, taken, waitedFor)
    waitedFor.add(taken.heldBy)
    if (turn > WAIT_TURNS || io.elapsed() >= deadline) break
    await io.pause(TURN_MILLISECONDS * (0.5 + Math.random()))
  }
  const entry = usableEntry(io, cache)
  if (entry === undefined) return fetchNew(io, cache, wanted)
  noteOld(io, entry, 'another process is still waiting for a new one')
  return entry.credential
}

/**
 * Returns the credential if the server need not be asked: a fresh one, or an old one after a failure of the server. Throws the error of
 * a flight that this process has waited for.
 */
function knownAnswer(io: Io, cache: Cache, waitedFor: ReadonlySet<string>): Credential | undefined {
  const entry = usableEntry(io, cache)
  if (entry !== undefined && ageOf(entry, io.now(), cache.renewedAt) === 'fresh') return entry.credential
  const failure = readFailure(cache.folder, cache.name)
  if (failure === undefined) return undefined
  const own = waitedFor.has(failure.flight)
  if (entry !== undefined && failure.unavailable && (own || isRecent(failure, io.now()))) {
    noteOld(io, entry, failure.message)
    return entry.credential
  }
  if (own) throw errorOf(failure)
  return undefined
}

/** Asks the server for all that wait. */
async function fly(
  io: Io,
  cache: Cache,
  wanted: Wanted,
  flight: Lock,
  waitedFor: ReadonlySet<string>,
): Promise<Credential> {
  try {
    // Another flight may have ended just before this one began.
    return knownAnswer(io, cache, waitedFor) ?? (await fetchNew(io, cache, wanted, flight.id))
  } finally {
    await flight.release()
  }
}

/** Asks the server and keeps its answer. If the server is unavailable, an old credential that still lives will do. */
async function fetchNew(io: Io, cache: Cache, wanted: Wanted, flight?: string): Promise<Credential> {
  const old = usableEntry(io, cache)
  try {
    const received = io.now()
    const issued = await ask(io, wanted, old === undefined ? REQUEST_MILLISECONDS : RENEWAL_MILLISECONDS)
    keep(io, cache, wanted.owner, issued, received)
    return issued.credential
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    if (!error.unavailable) removeEntry(cache.folder, cache.name)
    if (flight !== undefined) keepFailure(cache, { flight, at: io.now().getTime(), ...failureOf(error) })
    if (!error.unavailable || old === undefined || ageOf(old, io.now()) === 'over') throw error
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

function keep(
  io: Io,
  { folder, name, unwritable }: Cache,
  owner: Owner,
  { credential, seconds }: Issued,
  received: Date,
): void {
  const left = secondsLeft(credential.expirationTimestamp, seconds, received)
  if (left <= 0) {
    note(
      io,
      `The credential expired at ${credential.expirationTimestamp} by the clock of this machine: check that clock.`,
    )
    return
  }
  try {
    writeEntry(folder, name, ownerMark(owner), { received: received.getTime(), seconds: left, credential })
    removeFailure(folder, name)
    cleanUp(folder, io.now())
  } catch (error) {
    unwritable(error)
  }
}

/** Without the record, processes that wait ask for themselves. */
function keepFailure({ folder, name }: Cache, failure: Failure): void {
  try {
    writeFailure(folder, name, failure)
  } catch {}
}

const failureOf = ({ message, hint, exitCode, unavailable }: CliError): Omit<Failure, 'flight' | 'at'> => ({
  message,
  exitCode,
  unavailable,
  ...(hint !== undefined && { hint }),
})

function noteOld(io: Io, { credential: { expirationTimestamp } }: Entry, why: string): void {
  const until = expirationTimestamp === undefined ? '' : `, which lives until ${expirationTimestamp}`
  note(io, `keyplane uses the credential in its cache${until}: ${why.split('\n')[0]}`)
}
