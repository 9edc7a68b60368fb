/**
 * Opens the folder of cached credentials, and reads and writes the files in it. Trusts only what belongs to this user and is closed to
 * all others, and follows no symbolic links. All calls are synchronous: a plugin of kubectl has nothing else to do meanwhile.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

/** Files of credentials are far smaller, even with a certificate and its key. */
const MAX_BYTES = 256 * 1024
/** Missing on Windows, which opens neither links nor pipes this way. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants

/** Creates the folder if it is missing. Throws an error in words if it cannot be trusted, or the error of the file system. */
export function openFolder(folder: string): void {
  makeFolder(folder)
  const stats = lstatSync(folder)
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder, or is a symbolic link`)
  if (!isOwn(stats)) throw new Error(`${folder} belongs to another user`)
  if (isOpen(stats)) chmodSync(folder, 0o700)
}

/** Does what the option `recursive` of Node.js does, which never returns for a folder of /proc that cannot be made. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || existsSync(dirname(folder))) throw error
    makeFolder(dirname(folder))
    makeFolder(folder)
  }
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

/** Creates a file that only this user may read. Throws the error of the file system, EEXIST if there is one already. */
export function createPrivate(folder: string, name: string, text: string): void {
  const path = join(folder, name)
  const file = openSync(path, 'wx', 0o600)
  try {
    // The umask may have removed more.
    if (process.platform !== 'win32') fchmodSync(file, 0o600)
    writeFileSync(file, text)
  } catch (error) {
    remove(folder, name)
    throw error
  } finally {
    closeSync(file)
  }
}

/** Replaces a file by rename, so that readers see the old text or the new one. Throws the error of the file system. */
export function replacePrivate(folder: string, name: string, text: string): void {
  const temporary = `${name}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  createPrivate(folder, temporary, text)
  try {
    renameSync(join(folder, temporary), join(folder, name))
  } catch (error) {
    remove(folder, temporary)
    throw error
  }
}

/** Removes a file. Reports whether it is gone. */
export function remove(folder: string, name: string): boolean {
  try {
    unlinkSync(join(folder, name))
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Windows has no owner and mode to compare: a profile is closed to other users by its access list. */
const isOwn = ({ uid }: Stats): boolean => process.geteuid === undefined || uid === process.geteuid()
const isOpen = ({ mode }: Stats): boolean => process.platform !== 'win32' && (mode & 0o077) !== 0
