/** Writes files that only this user may read, and removes exactly those again. */
import {
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure, messageOf } from '../runner/failure.ts'

/** A file or a folder that this step has made: another one that takes its place has another identity. */
export interface Own {
  path: string
  identity: string
}

type Found = { dev: bigint; ino: bigint; birthtimeNs: bigint } | undefined

/** Returns the identity of what was found: an inode number alone may be used again. */
const identityOf = (found: Found): string | undefined => found && `${found.dev}:${found.ino}:${found.birthtimeNs}`

/** Returns the identity of what is at a path. A symbolic link is not followed. */
const identityAt = (path: string): string | undefined =>
  identityOf(lstatSync(path, { bigint: true, throwIfNoEntry: false }))

/** Makes a new folder in `parent`, with mode 0700. */
export function makeFolder(parent: string): Own {
  const path = mkdtempSync(join(parent, 'keyplane-'))
  return { path, identity: identityAt(path) ?? '' }
}

/** Makes an empty file with mode 0600. Throws a Failure when there is anything at the path, even a broken symbolic link. */
export function makeFile(path: string): Own & { write(text: string): void } {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    const file = openSync(path, 'wx', 0o600)
    // The umask of the job may have taken rights away from its owner.
    fchmodSync(file, 0o600)
    return {
      path,
      identity: identityOf(fstatSync(file, { bigint: true })) ?? '',
      // Writes to the file that was made, whatever has taken its place.
      write: (text) => writeFileSync(file, text),
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST')
      throw new Failure(`${path} exists. This step overwrites no file: give another path, or remove the file first`)
    throw new Failure(`${path} cannot be written: ${messageOf(error)}`)
  }
}

/** Replaces the content of a private file at once: a reader sees the old or the new one. */
export function replaceFile(path: string, text: string): void {
  const next = `${path}.new`
  writeFileSync(next, text, { mode: 0o600 })
  renameSync(next, path)
}

/** Removes a file, if it is still the same. Returns why it is left alone, or undefined when it is gone. */
export function removeFile({ path, identity }: Own): string | undefined {
  const found = identityAt(path)
  if (found === undefined) return undefined
  if (found !== identity) return `${path} is not the file that this step has written, so it stays`
  return attempt(() => unlinkSync(path))
}

/** Removes these files of a folder, and the folder. Returns why it is left alone, or undefined when it is gone. */
export function removeFolder({ path, identity }: Own, names: readonly string[]): string | undefined {
  const found = identityAt(path)
  if (found === undefined) return undefined
  if (found !== identity) return `${path} is not the folder that this step has made, so it stays`
  const failed = names.map((name) => attempt(() => unlinkSync(join(path, name)))).find((why) => why !== undefined)
  return failed ?? attempt(() => rmdirSync(path))
}

function attempt(work: () => void): string | undefined {
  try {
    work()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : messageOf(error)
  }
}
