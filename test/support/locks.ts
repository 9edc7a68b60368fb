/** Leaves locks behind, as processes do that are killed. */
import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { holderName } from '../../clients/core/src/files/lock.ts'

/** Returns the ID of a process that has ended. */
export const deadProcess = (): number => spawnSync('true').pid

/** Gives a lock to a holder, which by default has died. Returns the file of the holder. */
export async function leaveLock(lock: string, holder = holderName(deadProcess())): Promise<string> {
  await rm(lock, { recursive: true, force: true })
  await mkdir(lock, { recursive: true, mode: 0o700 })
  const file = join(lock, holder)
  await writeFile(file, '')
  return file
}
