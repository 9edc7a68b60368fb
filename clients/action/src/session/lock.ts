/** Lets one process at a time renew the credential of a folder. */
import { closeSync, openSync, statSync, unlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../runner/failure.ts'

/** Longer than a renewal takes: three attempts at each of three requests would have failed before. */
const STALE_MS = 60_000
const WAIT_MS = 90_000

/** Runs the work while no other process holds the file. */
export async function withLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + WAIT_MS
  while (!take(file)) {
    if (performance.now() > deadline) throw new Failure('another process has been renewing the credential for too long')
    if (ageOf(file) > STALE_MS) release(file)
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
    closeSync(openSync(file, 'wx', 0o600))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns the age in milliseconds, 0 if the file is gone. */
function ageOf(file: string): number {
  const found = statSync(file, { throwIfNoEntry: false })
  return found ? Date.now() - found.mtimeMs : 0
}

function release(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
