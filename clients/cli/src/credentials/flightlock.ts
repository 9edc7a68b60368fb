/**
 * Lets one process at a time ask for a credential. A lock is a file that names its holder, created with `wx`. A lock of a dead
 * holder is not removed by those who wait: two of them could remove the lock of the one that was quicker. Instead, it is followed by a lock with the
 * next number, which only one process can create. The holder removes its own lock and the dead ones before it.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import type { Io } from '../io/io.ts'
import { createPrivate, readTrusted, remove } from './cachefolder.ts'

/** A flight ends earlier, so the holder of an older lock was stopped, or runs on another machine and may be dead. */
const STALE_MILLISECONDS = 30_000
/** How long a lock may be without a text: its holder was killed, or has not written it yet. */
const UNWRITTEN_MILLISECONDS = 500
/** How many holders may die one after the other before the lock is given up. */
const MOST_DEAD = 16

export interface Flight {
  id: string
  release(): void
}

/** `held`: another process asks for this credential. `id` is absent while its lock has no text. */
export type Taken = { state: 'taken'; flight: Flight } | { state: 'held'; id?: string }

type Clocks = Pick<Io, 'now' | 'elapsed'>

interface Holder {
  id: string
  pid: number
  host: string
  /** When the process started, in a unit of the system; absent where the system does not tell. */
  started?: string
  /** Unix milliseconds. */
  at: number
}

/**
 * Returns a function that takes the lock of a cache entry, if no living process holds it. It throws if there can be no lock, as on a
 * full disk.
 */
export function flightLock(folder: string, name: string, { now, elapsed }: Clocks): () => Taken {
  /** When each lock was first seen without a text. */
  const unwritten = new Map<string, number>()

  const isAbandoned = (file: string, text: string): boolean => {
    const holder = parsed(text)
    if (holder !== undefined) return isDead(holder, now())
    const since = unwritten.get(file) ?? elapsed()
    unwritten.set(file, since)
    return elapsed() - since >= UNWRITTEN_MILLISECONDS
  }

  return () => {
    const dead: Lock[] = []
    for (let number = 0; number <= MOST_DEAD; number++) {
      const file = `${name}.${number}.lock`
      const id = randomBytes(12).toString('hex')
      const text = JSON.stringify({
        id,
        pid: process.pid,
        host: hostname(),
        started: startOf('self'),
        at: now().getTime(),
      })
      if (created(folder, file, text)) {
        // One that has changed since it was judged was released, and perhaps taken again.
        if (dead.every((lock) => textIn(folder, lock.file) === lock.text)) {
          return { state: 'taken', flight: { id, release: () => removeAll(folder, [...dead, { file, text }]) } }
        }
        remove(folder, file)
        return { state: 'held' }
      }
      const other = textIn(folder, file)
      if (!isAbandoned(file, other)) return { state: 'held', ...optionalId(other) }
      dead.push({ file, text: other })
    }
    throw new Error(`${folder} has ${MOST_DEAD} locks of processes that were killed`)
  }
}

interface Lock {
  file: string
  text: string
}

/** The own lock is the last, so that nobody takes a later one before those below it are gone. */
function removeAll(folder: string, locks: readonly Lock[]): void {
  for (const { file, text } of locks) if (textIn(folder, file) === text) remove(folder, file)
}

/** Returns '' for a lock that is gone, not written yet, or not to be trusted. */
const textIn = (folder: string, file: string): string => readTrusted(folder, file) ?? ''

function created(folder: string, file: string, text: string): boolean {
  try {
    createPrivate(folder, file, text)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Windows reports a file that is being deleted as EPERM.
    if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return false
    throw error
  }
}

const optionalId = (text: string): { id?: string } => {
  const id = parsed(text)?.id
  return id === undefined ? {} : { id }
}

function parsed(text: string): Holder | undefined {
  try {
    const { id, pid, host, started, at } = JSON.parse(text) as Record<string, unknown>
    if (typeof id !== 'string' || !Number.isSafeInteger(pid) || Number(pid) <= 0) return undefined
    if (typeof host !== 'string' || typeof at !== 'number') return undefined
    return { id, pid: Number(pid), host, at, ...(typeof started === 'string' && { started }) }
  } catch {
    return undefined
  }
}

/** A lock from the future was made by a clock that was wrong. Processes of other machines cannot be asked for. */
function isDead({ pid, host, started, at }: Holder, now: Date): boolean {
  if (Math.abs(now.getTime() - at) > STALE_MILLISECONDS) return true
  if (host !== hostname()) return false
  try {
    process.kill(pid, 0)
  } catch {
    // No process has this ID, or one of another user: then the ID was given anew.
    return true
  }
  const start = startOf(pid)
  return started !== undefined && start !== undefined && started !== start
}

/** Returns when a process started, which tells processes apart that had the same ID. Only Linux tells. */
function startOf(pid: number | 'self'): string | undefined {
  try {
    // The name of the program, in parentheses, may contain anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s+/s, '')
      .split(' ')
    return fields[19]
  } catch {
    return undefined
  }
}
