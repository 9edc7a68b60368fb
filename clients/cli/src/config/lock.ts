/** Lets one process at a time do something: a lock file names its holder, and replaces one that has died. */
import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CliError } from '../io/errors.ts'

export interface LockOptions {
  signal: AbortSignal
  /** How long to wait for another holder. */
  waitMilliseconds?: number
  /** The age at which a lock is abandoned, though its holder may be alive. */
  staleMilliseconds?: number
}

/** Runs the work while this process holds the lock file. Throws a CliError when another process holds it for too long. */
export async function withLock<T>(
  file: string,
  { signal, waitMilliseconds = 5000, staleMilliseconds = 30_000 }: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  const mine = JSON.stringify({ pid: process.pid, host: hostname(), nonce: randomBytes(8).toString('hex') })
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const deadline = performance.now() + waitMilliseconds
  while (!(await take(file, mine))) {
    const holder = await holderOf(file)
    if (holder && isAbandoned(holder, staleMilliseconds)) await evict(file, holder.text)
    else if (performance.now() > deadline) {
      throw new CliError(`Another process uses ${file}.`, {
        hint: 'Wait until it has finished, or delete that file if there is none.',
      })
    } else await sleep(20 + Math.random() * 40, undefined, { signal })
  }
  try {
    return await work()
  } finally {
    if ((await holderOf(file))?.text === mine) await rm(file, { force: true })
  }
}

async function take(file: string, text: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx', 0o600)
    try {
      await handle.writeFile(text)
    } finally {
      await handle.close()
    }
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Windows reports a file that is being deleted as EPERM.
    if (code === 'EEXIST' || (code === 'EPERM' && process.platform === 'win32')) return false
    throw new CliError(`Cannot lock ${file}: ${(error as Error).message}`, { cause: error })
  }
}

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
  if (age > staleMilliseconds) return true
  try {
    const { pid, host } = JSON.parse(text) as { pid?: unknown; host?: unknown }
    if (typeof pid !== 'number' || host !== hostname()) return false
    process.kill(pid, 0)
    return false
  } catch (error) {
    // An empty text is that of a holder that has not written it yet.
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Removes the lock of a holder. Puts it back if another process has taken the lock meanwhile. */
async function evict(file: string, text: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}.old`
  try {
    await rename(file, aside)
    if ((await readFile(aside, 'utf8')) !== text) await link(aside, file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error
  } finally {
    await rm(aside, { force: true })
  }
}
