/**
 * Opens the folder of cached credentials, and reads and removes the files in it. Trusts only what belongs to this user and is closed to
 * all others, and follows no symbolic links.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  rmSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { makeFolder } from '../../../core/src/files/privatefiles.ts'

/** Files of credentials are far smaller, even with a certificate and its key. */
const MAX_BYTES = 256 * 1024
/** Missing on Windows, which opens neither links nor pipes this way. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** Creates the folder if it is missing. Throws an error in words if it cannot be trusted, or the error of the file system. */
export async function openFolder(folder: string): Promise<void> {
  await makeFolder(folder)
  const stats = lstatSync(folder)
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder, or is a symbolic link`)
  if (!isOwn(stats)) throw new Error(`${folder} belongs to another user`)
  if (isOpen(stats)) chmodSync(folder, 0o700)
}

/** Returns the text of a file. Returns undefined if there is none, or if it cannot be trusted. */
export function readTrusted(folder: string, name: string): string | undefined {
  let file: number | undefined
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for its other end.
    file = openSync(join(folder, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stats = fstatSync(file)
    if (!stats.isFile() || stats.size > MAX_BYTES || !isOwn(stats) || isOpen(stats)) return undefined
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

/** Removes a file, or a lock with `recursive`. Does nothing if that fails. */
export function remove(folder: string, name: string, recursive = false): void {
  try {
    rmSync(join(folder, name), { recursive })
  } catch {}
}

/** Windows has no owner and mode to compare: a profile is closed to other users by its access list. */
const isOwn = ({ uid }: Stats): boolean => process.geteuid === undefined || uid === process.geteuid()
const isOpen = ({ mode }: Stats): boolean => process.platform !== 'win32' && (mode & 0o077) !== 0
