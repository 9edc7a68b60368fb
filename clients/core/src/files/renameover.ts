/** Replaces a file by another one, also on Windows. */
import { rename } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'

/** What Windows answers while a program that shares its files with readers only has the old file open, such as kubectl and curl. */
const IN_USE = ['EPERM', 'EACCES', 'EBUSY']
const TRIES = 40
const TURN_MILLISECONDS = 50

/** Renames a file over another one. On Windows it waits up to two seconds for programs that read the other one. */
export async function renameOver(
  from: string,
  to: string,
  { platform = process.platform, attempt = rename, pause = sleep as (milliseconds: number) => Promise<unknown> } = {},
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt(from, to)
    } catch (error) {
      const isInUse = platform === 'win32' && IN_USE.includes((error as NodeJS.ErrnoException).code ?? '')
      if (!isInUse || tries === TRIES) throw error
      await pause(TURN_MILLISECONDS)
    }
  }
}
