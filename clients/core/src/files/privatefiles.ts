/**
 * Makes, replaces and removes files that only their owner may read. What is made is new, so it follows no link and reuses no file of
 * somebody else. A file is replaced by rename, so readers see the old content or the new one. What has taken the place of something is
 * not removed in its stead.
 */
import { randomBytes } from 'node:crypto'
import { chmod, type FileHandle, lstat, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** A file or a folder that was made: another one in its place has another identity. */
export interface Made {
  path: string
  identity: string
}

/** A file that is open for writing. */
export type MadeFile = Made & { file: FileHandle }

type Found = { dev: bigint; ino: bigint; birthtimeNs: bigint }

/** An inode number alone may be used again. */
const identityOf = ({ dev, ino, birthtimeNs }: Found): string => `${dev}:${ino}:${birthtimeNs}`

/** Returns the identity of what is at a path, without following a symbolic link. Returns undefined if nothing is there. */
async function identityAt(path: string): Promise<string | undefined> {
  try {
    return identityOf(await lstat(path, { bigint: true }))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const BESIDE = /\.[0-9a-f]{12}\.tmp$/

/** Returns a new path beside another one, for what will be renamed to that. */
export const besideOf = (path: string): string => `${path}.${randomBytes(6).toString('hex')}.tmp`

/** Returns the name of the file for which a killed process has left this one. Returns other names as they are. */
export const intendedName = (name: string): string => name.replace(BESIDE, '')

/**
 * Makes a folder and those above it, with mode 0700. Leaves those that exist as they are. Throws the error of the file system. The
 * option `recursive` of Node.js never returns for a folder that /proc refuses.
 */
export async function makeFolder(path: string, isAgain = false): Promise<void> {
  const above = dirname(path)
  try {
    await mkdir(path, 0o700)
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isMissing && !isAgain && above !== path) {
      // Another process may have made the folder above in the meantime.
      if ((await identityAt(above)) === undefined) await makeFolder(above)
      return makeFolder(path, true)
    }
    if (
      await stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      )
    )
      return
    throw error
  }
  // The umask may have removed rights of the owner.
  await chmod(path, 0o700)
}

/** Makes a new folder with mode 0700, whose name begins with the prefix. */
export async function makeTemporaryFolder(parent: string, prefix: string): Promise<Made> {
  const path = await mkdtemp(join(parent, prefix))
  await chmod(path, 0o700)
  return { path, identity: (await identityAt(path)) ?? '' }
}

/** Makes an empty file, open for writing. Throws EEXIST if anything is at the path, even a broken symbolic link. */
export async function makeFile(path: string, mode = 0o600): Promise<MadeFile> {
  const file = await open(path, 'wx', mode)
  const found = await file.stat({ bigint: true })
  const made = { path, identity: identityOf(found), file }
  // The umask may have removed rights.
  if ((Number(found.mode) & mode) !== mode) await file.chmod(mode).catch((error) => discard(made, error))
  return made
}

async function discard(made: MadeFile, error: unknown): Promise<never> {
  await made.file.close().catch(() => {})
  await removeFile(made).catch(() => {})
  throw error
}

/** Replaces a file, or makes it, with content that is on disk. Returns the new file. Throws the error of the file system. */
export async function replaceFile(path: string, content: string | Uint8Array, mode?: number): Promise<Made> {
  const made = await makeFile(besideOf(path), mode)
  try {
    await made.file.writeFile(content)
    await made.file.sync()
    await made.file.close()
    await renameOver(made.path, path)
    return { path, identity: made.identity }
  } catch (error) {
    return discard(made, error)
  }
}

/** Reports whether what was made is still at its path. */
export const isInPlace = async ({ path, identity }: Made): Promise<boolean> => (await identityAt(path)) === identity

/** Removes a file. Returns false if another one has taken its place, which stays. */
export async function removeFile({ path, identity }: Made): Promise<boolean> {
  const found = await identityAt(path)
  if (found === identity) await rm(path, { force: true })
  return found === identity || found === undefined
}

/**
 * Removes the files of a folder whose names are `own`, and the folder. Returns false if another one has taken its place, which stays.
 * Throws the error of the file system, ENOTEMPTY if it has other files.
 */
export async function removeFolder({ path, identity }: Made, own: (name: string) => boolean): Promise<boolean> {
  const found = await identityAt(path)
  if (found !== identity) return found === undefined
  const names = (await readdir(path)).filter(own)
  const removals = names.map((name) => rm(join(path, name), { recursive: true, force: true, maxRetries: 3 }))
  for (const removal of await Promise.allSettled(removals)) if (removal.status === 'rejected') throw removal.reason
  await rmdir(path)
  return true
}

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
