/**
 * Lets one process at a time do something. A lock is a folder with one file, whose name says who holds it. It is made beside its place
 * and renamed to it, which fails while the folder there has a file. Whoever finds that a holder has died removes its file by name, so
 * nobody removes the lock of a process that was quicker. A plain file in that place is the lock of kubectl.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { lstat, readdir, rename, rm, rmdir, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { besideOf, makeFolder } from './privatefiles.ts'

export interface LockOptions {
  /** Returns milliseconds of a monotonic clock. */
  elapsed(): number
  pause(milliseconds: number): Promise<unknown>
  /** How long to wait for another holder. */
  waitMilliseconds?: number
  /** The age at which a lock is abandoned, though its holder may be alive. */
  staleMilliseconds?: number
}

/** Reports that the lock was not taken: another process holds it for too long, or the file system refuses it. */
export class LockError extends Error {
  override readonly name = 'LockError'
  readonly isHeld: boolean

  constructor(message: string, { isHeld, cause }: { isHeld: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isHeld = isHeld
  }
}

/** Runs the work while this process holds the lock. Throws a LockError if it does not get the lock. */
export async function withLock<T>(
  lock: string,
  { elapsed, pause, waitMilliseconds = 5000, staleMilliseconds = 30_000 }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const name = holderName(process.pid, startOf(process.pid))
  const deadline = elapsed() + waitMilliseconds
  while ((await isHeld(lock, staleMilliseconds)) || !(await take(lock, name))) {
    if (elapsed() > deadline) throw new LockError(`Another process uses ${lock}.`, { isHeld: true })
    await pause(20 + Math.random() * 40)
  }
  try {
    return await work()
  } finally {
    await release(lock, name)
  }
}

/** Returns the name of a holder's file. Each holder has another one. */
export const holderName = (pid: number, started = '', host = hostname()): string =>
  [pid, started, encodeURIComponent(host), randomBytes(8).toString('hex')].join(',')

/** Returns when a process started, which tells processes apart that had the same ID. Only Linux tells. */
function startOf(pid: number): string | undefined {
  try {
    // The name of the program, in parentheses, may contain anything.
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s+/s, '')
      .split(' ')[19]
  } catch {
    return undefined
  }
}

/** What a rename answers when another process was quicker. Windows also refuses while that looks at the folder. */
const QUICKER = ['EEXIST', 'ENOTEMPTY', 'ENOTDIR', 'EPERM', 'EACCES', 'ENOENT']

/** Takes the lock if nobody holds it. Returns false if another process was quicker. */
async function take(lock: string, name: string): Promise<boolean> {
  const beside = besideOf(lock)
  try {
    await makeFolder(beside)
    await writeFile(join(beside, name), '', { flag: 'wx', mode: 0o600 })
    await rename(beside, lock)
    return true
  } catch (error) {
    await rm(beside, { recursive: true, force: true }).catch(() => {})
    const { code = '', syscall, message } = error as NodeJS.ErrnoException
    if (syscall === 'rename' && QUICKER.includes(code)) return false
    throw new LockError(`Cannot lock ${lock}: ${message}`, { isHeld: false, cause: error })
  }
}

async function release(lock: string, name: string): Promise<void> {
  await unlink(join(lock, name)).catch(() => {})
  await removeEmpty(lock)
}

/** Removes the folder unless another process has taken the lock meanwhile. */
const removeEmpty = (lock: string): Promise<void> => rmdir(lock).catch(() => {})

/** Reports whether a process holds the lock, after it has removed what abandoned holders have left. */
async function isHeld(lock: string, staleMilliseconds: number): Promise<boolean> {
  const found = await lstat(lock).catch(() => undefined)
  if (found === undefined) return false
  try {
    if (!found.isDirectory()) {
      if (!(await isOld(lock, staleMilliseconds))) return true
      await unlink(lock)
      return false
    }
    for (const name of await readdir(lock)) {
      if (isAlive(name) && !(await isOld(join(lock, name), staleMilliseconds))) return true
      await unlink(join(lock, name))
    }
    await removeEmpty(lock)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** A lock from the future was made by a clock that was wrong. */
const isOld = async (path: string, milliseconds: number): Promise<boolean> =>
  Math.abs(Date.now() - (await lstat(path)).mtimeMs) > milliseconds

/** Reports whether the holder may be alive: of a process on another machine, nothing is known. */
function isAlive(name: string): boolean {
  const [pid, started, host] = name.split(',')
  if (host !== encodeURIComponent(hostname())) return true
  const now = startOf(Number(pid))
  if (started !== '' && now !== undefined) return started === now
  try {
    process.kill(Number(pid), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
