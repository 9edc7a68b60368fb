/** Lets one process at a time renew the credential of a folder. */
import { readFileSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../runner/failure.ts'

/** Longer than a renewal usually takes. One that hangs for longer is joined by another, which does no harm. */
const STALE_MS = 60_000
const WAIT_MS = 90_000

/** Runs the work while no other process holds the file. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS
  while (!take(file)) {
    if (performance.now() > deadline) throw new Failure('another process has been renewing the credential for too long')
    if (isAbandoned(file)) release(file)
    await sleep(25 + Math.random() * 50)
  }
  try {
    return await work()
  } finally {
    release(file)
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Reports whether the holder has died. If it lives after all, in another container, there are two renewals, which does no harm. */
function isAbandoned(file: string): boolean {
  try {
    if (Date.now() - statSync(file).mtimeMs > STALE_MS) return true
    const holder = Number(readFileSync(file, 'utf8'))
    // A holder that has not written its id yet.
    if (!(holder > 0)) return false
    process.kill(holder, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

function release(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
