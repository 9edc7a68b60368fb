/** Finds programs as a shell does. */
import { accessSync, constants, existsSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the path of the first of these programs that this user may run, if there is one. */
export const findExecutable = (name: string, folders: readonly string[]): string | undefined =>
  folders.map((folder) => join(folder, name)).find(isExecutable)

/** Reports whether this user may run the program. */
export function isExecutable(path: string): boolean {
  // Most folders lack most programs, and an exception for each takes longer.
  if (!existsSync(path)) return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
