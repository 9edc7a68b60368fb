/**
 * Lets one process at a time do something: a lock file names its holder, and is removed if that has died. A lock file is removed only under
 * its guard, and only if it is the one that was judged, so that nobody removes the lock of a process that was quicker. A guard whose
 * holder has died is not removed by those who wait either: it is followed by one with the next number, which only one process can create.
 */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, open, readFile, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'

interface TakeOptions {
  pause(milliseconds: number): Promise<unknown>
  /** The age at which a lock is abandoned, though its holder may be alive. */
  staleMilliseconds?: number
  /** The same for a lock without a text: its holder was killed, is kubectl, or has not written it yet. */
  unwrittenMilliseconds?: number
}

export interface LockOptions extends TakeOptions {
  /** Returns milliseconds of a monotonic clock. */
  elapsed(): number
  /** How long to wait for another holder. */
  waitMilliseconds?: number
}

/** The age at which a guard is abandoned: its holder only reads and removes a file. */
const STALE_GUARD_MILLISECONDS = 30_000

/** Reports that the lock was not taken: another process holds it for too long, or the file system refuses the file. */
export class LockError extends Error {
  override readonly name = 'LockError'
  readonly isHeld: boolean

  constructor(message: string, { isHeld, cause }: { isHeld: boolean; cause?: unknown }) {
    super(message, { cause })
    this.isHeld = isHeld
  }
}

/** Runs the work while this process holds the lock file. Throws a LockError if it does not get the lock. */
export async function withLock<T>(
  file: string,
  { elapsed, waitMilliseconds = 5000, ...options }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 }).catch((error) => {
    throw refused(file, error)
  })
  const deadline = elapsed() + waitMilliseconds
  for (;;) {
    const taken = await takeLock(file, options)
    if ('release' in taken) return await work().finally(taken.release)
    if (elapsed() > deadline) throw new LockError(`Another process uses ${file}.`, { isHeld: true })
    await options.pause(20 + Math.random() * 40)
  }
}

export interface Lock {
  /** Identifies the lock to those who wait for it. */
  id: string
  release(): Promise<void>
}

/** Takes the lock file, or returns the `id` of the lock that another process holds. Throws a LockError if there can be no lock. */
export async function takeLock(
  file: string,
  { pause, staleMilliseconds = 30_000, unwrittenMilliseconds = staleMilliseconds }: TakeOptions,
): Promise<Lock | { heldBy: string }> {
  const id = newText()
  for (;;) {
    if (await take(file, id)) {
      // Anyone who has the guard looks at this lock only for a moment.
      const release = async () => {
        while (!(await removeLock(file, id))) await pause(20)
      }
      return { id, release }
    }
    const holder = await holderOf(file)
    const most = holder?.text === '' ? unwrittenMilliseconds : staleMilliseconds
    const isFree = holder && isAbandoned(holder, most) && (await removeLock(file, holder.text))
    if (!isFree) return { heldBy: holder?.text ?? '' }
  }
}

const newText = (): string =>
  JSON.stringify({
    pid: process.pid,
    host: hostname(),
    started: startOf(process.pid),
    nonce: randomBytes(8).toString('hex'),
  })

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

/** Removes the lock file if it still has this text. Returns false if another process has the guard. */
async function removeLock(file: string, text: string): Promise<boolean> {
  if ((await holderOf(file))?.text !== text) return true
  const guard = await takeGuard(file)
  if (guard === undefined) return false
  try {
    if ((await holderOf(file))?.text === text) await rm(file, { force: true })
    return true
  } finally {
    // The own guard is the last, so that nobody takes a later one before those below it are gone.
    for (const one of guard) await rm(one, { force: true })
  }
}

/** Takes the guard of a lock file. Returns its file after those of dead holders; undefined if a living process has it. */
async function takeGuard(file: string): Promise<string[] | undefined> {
  const dead: { file: string; text: string }[] = []
  for (;;) {
    const guard = `${file}.guard${dead.length}`
    if (await take(guard, newText())) {
      for (const one of dead) {
        // One that has changed since it was judged was released, and perhaps taken again.
        if ((await holderOf(one.file))?.text === one.text) continue
        await rm(guard, { force: true })
        return undefined
      }
      return [...dead.map((one) => one.file), guard]
    }
    const holder = await holderOf(guard)
    if (holder === undefined || !isAbandoned(holder, STALE_GUARD_MILLISECONDS)) return undefined
    dead.push({ file: guard, text: holder.text })
  }
}

async function take(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(text)
    } catch (error) {
      await rm(file, { force: true })
      throw error
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Windows reports a file that is being deleted as EPERM.
    if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return false
    throw refused(file, error)
  }
}

const refused = (file: string, error: unknown): LockError =>
  new LockError(`Cannot lock ${file}: ${(error as Error).message}`, { isHeld: false, cause: error })

interface Holder {
  text: string
  age: number
}

async function holderOf(file: string): Promise<Holder | undefined> {
  try {
    const [text, { mtimeMs }] = [await readFile(file, 'utf8'), await stat(file)]
    return { text, age: Date.now() - mtimeMs }
  } catch {
    return undefined
  }
}

function isAbandoned({ text, age }: Holder, staleMilliseconds: number): boolean {
  // A lock from the future was made by a clock that was wrong.
  if (Math.abs(age) > staleMilliseconds) return true
  try {
    const { pid, host, started } = JSON.parse(text) as { pid?: unknown; host?: unknown; started?: unknown }
    if (typeof pid !== 'number' || host !== hostname()) return false
    const now = startOf(pid)
    if (started !== undefined && now !== undefined) return started !== now
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
