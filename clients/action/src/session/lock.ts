/**
 * Lets one process at a time renew the credential of a folder. A lock file is removed only under its guard, and only if it is the one that
 * was judged, so that nobody removes the lock of a process that was quicker. A guard whose holder has died is followed by one with the
 * next number, which only one process can create.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../runner/failure.ts'

/** Longer than a renewal takes, even if no request has an answer. */
const STALE_MS = 600_000
const WAIT_MS = 90_000
/** The age at which a guard is abandoned: its holder only reads and removes a file. */
const STALE_GUARD_MS = 30_000

/** Runs the work while no other process holds the file. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const mine = newText()
  const deadline = performance.now() + WAIT_MS
  while (!(await take(file, mine))) {
    if (performance.now() > deadline) throw new Failure('another process has been renewing the credential for too long')
    const holder = await holderOf(file)
    if (holder && isAbandoned(holder, STALE_MS)) await remove(file, holder.text)
    await sleep(25 + Math.random() * 50)
  }
  try {
    return await work()
  } finally {
    // Anyone who has the guard looks at this lock only for a moment.
    while (!(await remove(file, mine))) await sleep(25)
  }
}

const newText = (): string => `${process.pid} ${randomUUID()}`

/** Removes the lock file if it still has this text. Returns false if another process has the guard. */
async function remove(file: string, text: string): Promise<boolean> {
  if ((await holderOf(file))?.text !== text) return true
  const guards = await takeGuard(file)
  if (guards === undefined) return false
  if ((await holderOf(file))?.text === text) await rm(file, { force: true })
  // The own guard is the last, so that nobody takes a later one before those below it are gone.
  for (const guard of guards) await rm(guard, { force: true })
  return true
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
    if (holder === undefined || !isAbandoned(holder, STALE_GUARD_MS)) return undefined
    dead.push({ file: guard, text: holder.text })
  }
}

async function take(file: string, text: string): Promise<boolean> {
  try {
    await writeFile(file, text, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
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

/** Reports whether the holder has died. A process of another container cannot be asked, so its lock ends by its age. */
function isAbandoned({ text, age }: Holder, stale: number): boolean {
  if (age > stale) return true
  const holder = Number.parseInt(text, 10)
  // A holder that has not written its id yet.
  if (!(holder > 0)) return false
  try {
    process.kill(holder, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}
